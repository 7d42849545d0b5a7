//! Reader of `pc_sampling_host_trap.csv` and `pc_sampling_stochastic.csv`.

use super::samples::{Sample, State, Where, stall};

/// A row and the line on which it starts.
struct Row {
    line: usize,
    cells: Vec<String>,
}

/// Splits a file into rows by RFC 4180: quoted cells may contain commas, line ends and doubled quotation marks.
fn rows(text: &str) -> Result<Vec<Row>, String> {
    let (mut rows, mut line) = (Vec::new(), 1);
    let mut row = Row { line, cells: Vec::new() };
    let mut cell = String::new();
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.cells.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.cells.push(std::mem::take(&mut cell));
                rows.push(std::mem::replace(&mut row, Row { line, cells: Vec::new() }));
            }
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(format!("line {}: a quotation mark is not closed; the file may be truncated", row.line));
    }
    if !cell.is_empty() || !row.cells.is_empty() {
        row.cells.push(cell);
        rows.push(row);
    }
    rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
    Ok(rows)
}

/// Finds the columns that are used by their names in the header.
struct Columns<'h> {
    header: &'h [String],
}

impl Columns<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|cell| cell.trim().eq_ignore_ascii_case(name))
    }

    fn required(&self, name: &str) -> Result<usize, String> {
        self.find(name).ok_or_else(|| {
            format!("line 1: there is no column {name}; rocprofv3's PC sampling files begin with Sample_Timestamp,Exec_Mask,…")
        })
    }
}

/// The number in a cell.
fn number(row: &Row, column: usize, name: &str) -> Result<u64, String> {
    let cell = row.cells.get(column).map_or("", |cell| cell.trim());
    cell.parse().map_err(|_| format!("line {}: {name} is a number, not `{cell}`", row.line))
}

/// Reads the samples of a file.
pub fn read(text: &str) -> Result<Vec<Sample>, String> {
    let rows = rows(text)?;
    let Some((header, rows)) = rows.split_first() else {
        return Err("the file is empty".to_owned());
    };
    let columns = Columns { header: &header.cells };
    let exec = columns.required("Exec_Mask")?;
    let dispatch = columns.required("Dispatch_Id")?;
    let instruction = columns.required("Instruction")?;
    let comment = columns.required("Instruction_Comment")?;
    let issued = columns.find("Wave_Issued_Instruction");
    let stochastic = match issued {
        Some(issued) => Some((issued, columns.required("Stall_Reason")?, columns.required("Wave_Count")?)),
        None => None,
    };
    let sample = |row: &Row| {
        if row.cells.len() != header.cells.len() {
            return Err(format!(
                "line {}: {} cells, the header has {}; the file may be truncated",
                row.line,
                row.cells.len(),
                header.cells.len()
            ));
        }
        let cell =
            |column: usize| row.cells.get(column).map(|cell| cell.trim().to_owned()).unwrap_or_default();
        let state = match stochastic {
            None => None,
            Some((issued, reason, waves)) => Some(State {
                stall: match number(row, issued, "Wave_Issued_Instruction")? {
                    0 => Some(
                        stall(&cell(reason)).map_err(|problem| format!("line {}: {problem}", row.line))?,
                    ),
                    _ => None,
                },
                waves: Some(number(row, waves, "Wave_Count")?.try_into().unwrap_or(u32::MAX)),
                arbiter: None,
            }),
        };
        Ok(Sample {
            place: Where::Text { text: cell(instruction), source: cell(comment) },
            lanes: number(row, exec, "Exec_Mask")?.count_ones(),
            dispatch: number(row, dispatch, "Dispatch_Id")?,
            state,
        })
    };
    rows.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use gcn_sim::timed::Stall;

    use super::*;

    const HEAD: &str = "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"";

    #[test]
    fn cells_may_hold_commas_quotes_and_line_ends() {
        let text = format!("{HEAD}\r\n1,3,7,\"v_mov_b32 v1, v2\",\"a \"\"b\"\"\nc:5\",7\r\n");
        let place = Where::Text { text: "v_mov_b32 v1, v2".to_owned(), source: "a \"b\"\nc:5".to_owned() };
        assert_eq!(read(&text), Ok(vec![Sample { place, lanes: 2, dispatch: 7, state: None }]));
    }

    #[test]
    fn stochastic_files_have_more_columns() {
        let head = format!(
            "{HEAD},\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\""
        );
        let row = "1,1,2,\"s_waitcnt vmcnt(0)\",\"\",2,0,\"NO_INST\",\"WAITCNT\",4";
        let state = read(&format!("{head}\n{row}\n")).unwrap().remove(0).state.unwrap();
        assert_eq!((state.stall, state.waves), (Some(Stall::Waitcnt), Some(4)));
        let issued = row.replace(",2,0,", ",2,1,");
        assert_eq!(read(&format!("{head}\n{issued}\n")).unwrap().remove(0).state.unwrap().stall, None);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let problem = |text: &str| read(text).unwrap_err();
        assert_eq!(problem(""), "the file is empty");
        assert!(problem("a,b\n1,2\n").starts_with("line 1: there is no column Exec_Mask"));
        assert_eq!(
            problem(&format!("{HEAD}\n1,2,3\n")),
            "line 2: 3 cells, the header has 6; the file may be truncated"
        );
        assert!(
            problem(&format!("{HEAD}\n1,2,3,\"v_")).starts_with("line 2: a quotation mark is not closed")
        );
        assert_eq!(problem(&format!("{HEAD}\n1,x,3,a,b,4\n")), "line 2: Exec_Mask is a number, not `x`");
    }
}
