//! k nearest neighbours, as in cuML: a bounded heap for each work-item, in its private memory, which methods with `&mut
//! self` change.
use super::{everywhere, floats};
use gcn_dsl::prelude::*;

const TILE: u32 = 64;

gcn_kernel! {
    #[device]
    struct Heap<const K: usize> {
        dist: Private<f32, K>,
        idx: Private<u32, K>,
        size: V<u32>,
    }

    #[device]
    impl<const K: usize> Heap<K> {
        fn new() -> Self {
            Heap { dist: Private::new(), idx: Private::new(), size: 0 }
        }

        fn swap(&mut self, a: V<u32>, b: V<u32>) {
            let (d, i) = (self.dist[a], self.idx[a]);
            self.dist[a] = self.dist[b];
            self.idx[a] = self.idx[b];
            self.dist[b] = d;
            self.idx[b] = i;
        }

        fn sift_up(&mut self, at: V<u32>) {
            let mut i = at;
            while i > 0 && self.dist[(i - 1) / 2] < self.dist[i] {
                self.swap(i, (i - 1) / 2);
                i = (i - 1) / 2;
            }
        }

        fn sift_down(&mut self) {
            let mut i = 0;
            loop {
                let (l, r) = (2 * i + 1, 2 * i + 2);
                let mut largest = i;
                if l < self.size && self.dist[l] > self.dist[largest] {
                    largest = l;
                }
                if r < self.size && self.dist[r] > self.dist[largest] {
                    largest = r;
                }
                if largest == i {
                    break;
                }
                self.swap(i, largest);
                i = largest;
            }
        }

        fn offer(&mut self, d: V<f32>, id: V<u32>) {
            if self.size < K as u32 {
                let at = self.size;
                self.dist[at] = d;
                self.idx[at] = id;
                self.size += 1;
                self.sift_up(at);
            } else if d < self.dist[0] {
                self.dist[0] = d;
                self.idx[0] = id;
                self.sift_down();
            }
        }

        fn pop(&mut self) -> Option<(V<f32>, V<u32>)> {
            if self.size == 0 {
                return None;
            }
            let top = (self.dist[0], self.idx[0]);
            self.size -= 1;
            self.swap(0, self.size);
            self.sift_down();
            Some(top)
        }
    }

    #[workgroup(TILE)]
    fn knn<const K: usize>(points: &[[f32; 3]], queries: &[[f32; 3]], out_idx: &mut [u32], out_dist: &mut [f32]) {
        let tile = Lds::<[f32; 3], 64>::new();
        let q = global_id().x;
        let tid = local_id().x;
        let valid = q < queries.len();
        let p = queries[q];
        let mut heap = Heap::<K>::new();
        for base in (0..points.len()).step_by(TILE) {
            barrier();
            if base + tid < points.len() {
                let s = points[base + tid];
                for k in 0..3 {
                    tile[tid][k] = s[k];
                }
            }
            barrier();
            if valid {
                let n = TILE.min(points.len() - base);
                for j in 0..n {
                    let dx = tile[j][0] - p[0];
                    let dy = tile[j][1] - p[1];
                    let dz = tile[j][2] - p[2];
                    heap.offer(dx * dx + dy * dy + dz * dz, base + j);
                }
            }
        }
        if !valid {
            return;
        }
        let mut k = K as u32;
        while let Some((d, i)) = heap.pop() {
            k -= 1;
            out_idx[q * K as u32 + k] = i;
            out_dist[q * K as u32 + k] = d.sqrt();
        }
    }
}

#[test]
fn nearest_neighbours() {
    const K: usize = 5;
    let points: Vec<[f32; 3]> = floats(450).as_chunks::<3>().0.to_vec();
    let queries: Vec<[f32; 3]> = floats(720)[450..].as_chunks::<3>().0.to_vec();
    everywhere(|device| {
        let (mut idx, mut dist) = (vec![0; 90 * K], vec![0.0; 90 * K]);
        knn::<K>.launch(device, Grid::x(2), (&points, &queries, &mut idx, &mut dist)).unwrap();
        for (q, p) in queries.iter().enumerate() {
            let distance = |s: &[f32; 3]| {
                let (x, y, z) = (s[0] - p[0], s[1] - p[1], s[2] - p[2]);
                x * x + y * y + z * z
            };
            let mut want: Vec<(f32, u32)> = points.iter().map(distance).zip(0..).collect();
            want.sort_by(|a, b| a.0.total_cmp(&b.0));
            for k in 0..K {
                assert_eq!(dist[q * K + k], want[k].0.sqrt(), "query {q}, {k}");
                // Of two neighbours at the same distance, either may come first.
                assert_eq!(distance(&points[idx[q * K + k] as usize]), want[k].0, "query {q}, {k}");
            }
        }
    });
}
