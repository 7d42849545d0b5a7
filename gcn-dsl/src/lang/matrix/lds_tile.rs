//! Matrix tiles in LDS.

mod turned;

use std::marker::PhantomData;
use std::panic::Location;

use super::operand::here;
use super::place::{At, Places, Run, Stride, Xor};
use super::swizzle::{Linear, Swizzle};
use super::view::{AsView, AsViewMut, View};
use crate::ir::{Inst, LdsId, Memory, Place, Type, Value};
use crate::lang::memory::const_index::{Counted, HostCount, number};
use crate::lang::memory::lds_row::Groups;
use crate::lang::{
    AssignIn, Declare, Flatten, Index, IntoDevice, LdsRow, LoadAt, PlaceAt, V, Writable, local_id,
    next_value, with,
};
use crate::scalar::Number;
use turned::Blocks;

/// A matrix of `ROWS x COLS` elements in the workgroup's LDS; `L` is the layout of its rows.
///
/// The whole workgroup fills the tile in two steps: [`LdsTile::fetch`] loads a tile of a matrix in memory into
/// registers, and [`LdsTile::put`] writes it to LDS. Other work may be done between the two steps, to hide the latency
/// of the loads. Fragments load from the tile as from any matrix. A `barrier()` is needed between a `put` and loads of
/// elements that other lanes wrote. `tile[row][column]` reads or writes one element.
///
/// If elements with neighbouring `k` are not neighbours in the tile, a factor is loaded element by element. On gfx950 transposing loads
/// load it instead, if all lanes are active and the first row and column are the same in all of them.
///
/// # Errors
/// When the kernel is built, at the declaration or at `fetch`: an error if the length of a row is not a multiple of the
/// size of the layout's groups, or if the tile cannot be divided evenly among the lanes of the workgroup.
///
/// ```
/// use gcn_dsl::lang::matrix::Spread;
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// c = a * b for 32 x 64 times 64 x 32 elements, both row by row: `k` is not the fast dimension of b.
///     #[workgroup(64)]
///     #[targets(HasMfma)]
///     fn product(a: &[f16], b: &[f16], c: &mut [f32]) {
///         let tile_a = LdsTile::<f16, 32, 64, Spread>::new();
///         let tile_b = LdsTile::<f16, 64, 32, Spread>::new();
///         tile_a.put(tile_a.fetch(row_major(a, 64), 0, 0));
///         tile_b.put(tile_b.fetch(row_major(b, 32), 0, 0));
///         barrier();
///         let left = TileA::<f16, 32, 64>::load(tile_a, 0, 0);
///         let right = TileB::<f16, 64, 32>::load(tile_b, 0, 0);
///         matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// let text = |target| product.build(target).unwrap().assembly(Comments::None);
/// assert!(text(Target::GFX950).contains("ds_read_b64_tr_b16"));
/// assert!(text(Target::GFX942).contains("ds_read_u16"));
/// ```
#[derive(Debug)]
pub struct LdsTile<T, const ROWS: usize, const COLS: usize, L = Linear> {
    id: LdsId,
    types: PhantomData<(T, L)>,
}

impl<T, const ROWS: usize, const COLS: usize, L> Clone for LdsTile<T, ROWS, COLS, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLS: usize, L> Copy for LdsTile<T, ROWS, COLS, L> {}

/// The dimension of a matrix that is contiguous in memory.
pub trait Contiguous: Copy + std::fmt::Debug + 'static {
    #[doc(hidden)]
    const COLUMNS: bool;
}
/// The elements of a row are neighbours: [`row_major`](super::row_major).
#[derive(Debug, Clone, Copy)]
pub struct Rows;
/// The elements of a column are neighbours: [`col_major`](super::col_major).
#[derive(Debug, Clone, Copy)]
pub struct Columns;
impl Contiguous for Rows {
    const COLUMNS: bool = false;
}
impl Contiguous for Columns {
    const COLUMNS: bool = true;
}

/// One lane's share of a tile, in registers between the load from memory and the store to LDS.
#[derive(Debug)]
pub struct Staged<T, const ROWS: usize, const COLS: usize, L = Linear, C = Rows> {
    values: [Option<Value>; MOST_PARTS],
    types: PhantomData<(T, L, C)>,
}

impl<T, const ROWS: usize, const COLS: usize, L, C> Clone for Staged<T, ROWS, COLS, L, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLS: usize, L, C> Copy for Staged<T, ROWS, COLS, L, C> {}

/// The largest number of accesses with which a lane moves its share.
const MOST_PARTS: usize = 32;

/// The division of a tile among the lanes of a workgroup.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// The number of elements in one access of a lane.
    width: u32,
    /// The number of lanes that access one row together.
    across: u32,
    /// The number of rows between consecutive accesses of a lane.
    rows: u32,
    /// The number of accesses of each lane.
    parts: u32,
}

impl Share {
    /// Divides a tile evenly among the workgroup's lanes, with accesses of at most `most` elements; `None` if that is
    /// impossible.
    fn of<T: Number>(rows: u32, cols: u32, most: u32) -> Option<Share> {
        let lanes: u32 = with(|c| c.workgroup.iter().product());
        let size = T::ELEM.bytes();
        let widths = [16, 8, 4].into_iter().filter(|b| b % size == 0).map(|b| b / size);
        widths
            .filter(|width| cols.is_multiple_of(*width) && *width <= most)
            .map(|width| Share { width, across: cols / width, rows: 0, parts: 0 })
            .filter(|s| lanes.is_multiple_of(s.across) && rows.is_multiple_of(lanes / s.across))
            .map(|s| Share { rows: lanes / s.across, parts: rows / (lanes / s.across), ..s })
            .find(|s| s.parts as usize <= MOST_PARTS)
    }

    /// Row and column of the lane's first element.
    #[track_caller]
    fn first(&self) -> [V<u32>; 2] {
        let [x, y, _] = with(|c| c.workgroup);
        let id = local_id();
        let mut lane = id.x;
        if with(|c| c.workgroup[1] * c.workgroup[2]) > 1 {
            lane = lane + id.y * x + id.z * (x * y);
        }
        [lane / self.across, lane % self.across * self.width]
    }
}

impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle> LdsTile<T, ROWS, COLS, L> {
    /// Declares a tile. Each call allocates LDS for a separate tile.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another tile")]
    #[track_caller]
    pub fn new() -> Self {
        let loc = Location::caller();
        if let Some(Groups { width, period, .. }) = groups::<T, L>(COLS)
            && !(COLS as u32).is_multiple_of(width * period)
        {
            let what = format!(
                "rows of {COLS} elements are not a multiple of {width} * {period}, as XorGroups asks for; take a smaller PERIOD, or \
                 `Spread`, which finds one"
            );
            with(|c| c.fail(loc, what));
        }
        let elements = ROWS as u32 * L::pitch(COLS as u32);
        LdsTile { id: with(|c| c.builder.lds(elements as usize, T::ELEM.bytes())), types: PhantomData }
    }

    /// A view of the tile with rows and columns exchanged, for example to load a `FragB` from a tile whose rows run
    /// along `k`.
    pub fn transposed(&self) -> View<T, Writable> {
        View::of(self.places().transposed())
    }

    /// Loads the tile whose element (0, 0) is at (`row`, `col`) of a matrix; each lane of the workgroup loads a share.
    /// The matrix's rows should be contiguous; otherwise use [`LdsTile::stage_by`].
    #[track_caller]
    pub fn fetch(
        &self,
        from: impl AsView<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) -> Staged<T, ROWS, COLS, L> {
        self.stage_by::<Rows>(from, row, col)
    }

    /// As [`LdsTile::fetch`], from a matrix whose contiguous dimension is given by a type, [`Rows`] or [`Columns`]. If
    /// the columns are contiguous, up to 16 bytes of a column are loaded at a time; [`LdsTile::put`] then transposes
    /// the elements in registers, so the tile in LDS is the same as after `fetch`, and fragments load from it in the
    /// same way.
    ///
    /// # Errors
    /// As for `fetch`: an error if the tile cannot be divided evenly among the lanes of the workgroup.
    ///
    /// ```
    /// use gcn_dsl::lang::matrix::{Columns, Spread};
    /// use gcn_dsl::prelude::*;
    ///
    /// gcn_kernel! {
    ///     /// c = a * b for 32 x 64 times 64 x 32 elements, both row by row: the columns of the transposed b are contiguous.
    ///     #[workgroup(64)]
    ///     #[targets(HasMfma)]
    ///     fn product(a: &[f16], b: &[f16], c: &mut [f32]) {
    ///         let tile_a = LdsTile::<f16, 32, 64, Spread>::new();
    ///         let tile_b = LdsTile::<f16, 32, 64, Spread>::new();
    ///         tile_a.put(tile_a.fetch(row_major(a, 64), 0, 0));
    ///         tile_b.put(tile_b.stage_by::<Columns>(row_major(b, 32).transposed(), 0, 0));
    ///         barrier();
    ///         let left = TileA::<f16, 32, 64>::load(tile_a, 0, 0);
    ///         let right = TileB::<f16, 64, 32>::load(tile_b.transposed(), 0, 0);
    ///         matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    ///     }
    /// }
    /// let text = product.build(Target::GFX942).unwrap().assembly(Comments::None);
    /// assert!(text.contains("v_perm_b32") && !text.contains("ds_read_u16"));
    /// ```
    #[track_caller]
    pub fn stage_by<C: Contiguous>(
        &self,
        from: impl AsView<T>,
        row: impl IntoDevice<V<u32>>,
        col: impl IntoDevice<V<u32>>,
    ) -> Staged<T, ROWS, COLS, L, C> {
        let mut staged = Staged { values: [None; MOST_PARTS], types: PhantomData };
        if C::COLUMNS {
            if let Some(blocks) = blocks::<T, L>(ROWS, COLS, Location::caller()) {
                let at = [At::new(row.into_device()), At::new(col.into_device())];
                blocks.fetch(from, at, &mut staged.values);
            }
            return staged;
        }
        let Some(share) = share::<T, L>(ROWS, COLS, Location::caller()) else { return staged };
        let [first_row, first_col] = share.first();
        let (row, col) = (At::new(row.into_device()), At::new(col.into_device()));
        let at = [row.plus_varying(first_row), col.plus_varying(first_col)];
        for (i, value) in staged.values.iter_mut().enumerate().take(share.parts as usize) {
            let run = Run::plain([i as u32 * share.rows, 0], share.width, 1);
            *value = Some(from.places().load_bits::<T>(at, &[run], 8 * T::ELEM.bytes()));
        }
        staged
    }

    /// Writes to LDS a tile that `fetch` or `stage_by` loaded.
    #[track_caller]
    pub fn put<C: Contiguous>(&self, staged: Staged<T, ROWS, COLS, L, C>) {
        if C::COLUMNS {
            let values: Vec<Value> = staged.values.into_iter().flatten().collect();
            if let Some(blocks) = blocks::<T, L>(ROWS, COLS, Location::caller()) {
                blocks.put(self, &values);
            }
            return;
        }
        let Some(share) = share::<T, L>(ROWS, COLS, Location::caller()) else { return };
        let [row, col] = share.first().map(At::new);
        let together = groups::<T, L>(COLS).map_or(share.width, |g| g.width.min(share.width));
        let size = T::ELEM.bytes();
        for (i, value) in staged.values.into_iter().flatten().enumerate() {
            for from in (0..share.width).step_by(together as usize) {
                let value = part::<T>(value, [from * size, together * size, share.width * size]);
                let at = [row.plus(i as u32 * share.rows), col.plus(from)];
                self.places().store_packed::<T>(at, value);
            }
        }
    }
}

impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, I: Index + IntoDevice<V<u32>>> LoadAt<I>
    for LdsTile<T, ROWS, COLS, L>
{
    type Output = LdsRow<T>;
    #[track_caller]
    fn load_at(&self, row: I) -> LdsRow<T> {
        let (pitch, groups) = (L::pitch(COLS as u32), groups::<T, L>(COLS));
        LdsRow::of(self.id, row.into_device(), [ROWS, COLS], pitch, groups, Location::caller())
    }
}

impl<T, const ROWS: usize, const COLS: usize, L, I: Index> PlaceAt<I> for LdsTile<T, ROWS, COLS, L>
where
    Self: LoadAt<I>,
{
    type Place = <Self as LoadAt<I>>::Output;
    #[track_caller]
    fn place_at(&self, row: I) -> Self::Place {
        self.load_at(row)
    }
}

/// Extracts `bytes` bytes from byte `from` of a value of `of` bytes. All three are multiples of 4.
#[track_caller]
pub(super) fn part<T: Number>(value: Value, [from, bytes, of]: [u32; 3]) -> Value {
    if bytes == of {
        return value;
    }
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: (bytes / T::ELEM.bytes()) as u8 };
    let inst = Inst::Extract { from: value, dword: (from / 4) as u8 };
    with(|c| c.value(inst, ty, Location::caller()))
}

/// The swizzle of the tile's element groups on the target and in the wave size of this build; `None` if elements stay
/// in order.
fn groups<T: Number, L: Swizzle>(columns: usize) -> Option<Groups> {
    L::groups::<T>(with(|c| here(c)), columns as u32)
}

/// The division of a tile among the lanes of the workgroup. If there is none, an error is recorded.
fn share<T: Number, L: Swizzle>(rows: usize, cols: usize, loc: &'static Location<'static>) -> Option<Share> {
    let size = T::ELEM.bytes();
    let mosts = match groups::<T, L>(cols) {
        None => [u32::MAX; 2],
        // A swizzled layout stores each group separately. Lanes that store at the same time access different banks if
        // their groups are neighbours or if each lane is in another row. In a tile with long rows these lanes are in
        // the same row, so each lane should fetch a single group at a time.
        Some(g) if !(g.width * size).is_multiple_of(4) => [g.width; 2],
        Some(g) if cols as u32 <= g.width * g.period * g.rows => [u32::MAX; 2],
        Some(g) => [g.width, u32::MAX],
    };
    let share = mosts.into_iter().find_map(|most| Share::of::<T>(rows as u32, cols as u32, most));
    if share.is_none() {
        uneven([rows, cols], "row", loc);
    }
    share
}

/// As `share`, for a tile whose columns are contiguous in memory.
fn blocks<T: Number, L: Swizzle>(
    rows: usize,
    cols: usize,
    loc: &'static Location<'static>,
) -> Option<Blocks> {
    let group = groups::<T, L>(cols).map_or(u32::MAX, |g| g.width);
    let lanes = with(|c| c.workgroup.iter().product());
    let blocks = Blocks::of(lanes, [rows as u32, cols as u32], group, T::ELEM.bytes());
    if blocks.is_none() {
        uneven([rows, cols], "column", loc);
    }
    blocks
}

/// Records the error that a tile cannot be divided evenly.
fn uneven([rows, cols]: [usize; 2], line: &str, loc: &'static Location<'static>) {
    with(|c| {
        let lanes: u32 = c.workgroup.iter().product();
        let what = format!(
            "a workgroup of {lanes} cannot share out a tile of {rows} x {cols} elements evenly, 4, 8 or 16 bytes of a {line} \
             to each lane and at most {MOST_PARTS} times; change the tile or the workgroup"
        );
        c.fail(loc, what);
    });
}

#[allow(private_interfaces, reason = "the IR is not part of the language")]
impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle> AsView<T> for LdsTile<T, ROWS, COLS, L> {
    fn places(&self) -> Places {
        let strides = [Stride::Const(L::pitch(COLS as u32)), Stride::Const(1)];
        let xor = groups::<T, L>(COLS).map(|groups| Xor { groups, rows: 0 });
        Places::new(Memory::Lds(self.id), strides).with_swizzle(xor)
    }
}
impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle> AsViewMut<T> for LdsTile<T, ROWS, COLS, L> {}

impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, C: Contiguous> crate::lang::AsIs
    for Staged<T, ROWS, COLS, L, C>
{
}

impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, C: Contiguous> Flatten
    for Staged<T, ROWS, COLS, L, C>
{
    fn flatten(&self, out: &mut Vec<Value>) {
        out.extend(self.values.into_iter().flatten());
    }
    #[track_caller]
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        let (mut staged, loc) =
            (Staged { values: [None; MOST_PARTS], types: PhantomData }, Location::caller());
        let parts = match C::COLUMNS {
            true => blocks::<T, L>(ROWS, COLS, loc).map_or(0, |blocks| blocks.loads()),
            false => share::<T, L>(ROWS, COLS, loc).map_or(0, |share| share.parts),
        };
        staged.values[..parts as usize].fill_with(|| Some(next_value(values)));
        staged
    }
}

impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, C: Contiguous> Declare
    for Staged<T, ROWS, COLS, L, C>
{
    type Value = Self;
    fn declare(self) -> Self {
        self
    }
}

impl<T, F, G, L, C, const ROWS: usize, const COLS: usize> AssignIn<F, G> for Staged<T, ROWS, COLS, L, C> {}

#[diagnostic::do_not_recommend]
impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, Host: HostCount> LoadAt<Counted<Host>>
    for LdsTile<T, ROWS, COLS, L>
{
    type Output = LdsRow<T>;
    #[track_caller]
    fn load_at(&self, row: Counted<Host>) -> LdsRow<T> {
        self.load_at(number::<u32, Host>(row))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Number, const ROWS: usize, const COLS: usize, L: Swizzle, Host: HostCount> PlaceAt<Counted<Host>>
    for LdsTile<T, ROWS, COLS, L>
{
    type Place = LdsRow<T>;
    #[track_caller]
    fn place_at(&self, row: Counted<Host>) -> LdsRow<T> {
        self.load_at(row)
    }
}
