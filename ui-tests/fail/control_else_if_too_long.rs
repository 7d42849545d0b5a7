use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = if x[i] == 0 {
            0
        } else if x[i] == 1 {
            1
        } else if x[i] == 2 {
            4
        } else if x[i] == 3 {
            9
        } else if x[i] == 4 {
            16
        } else if x[i] == 5 {
            25
        } else if x[i] == 6 {
            36
        } else if x[i] == 7 {
            49
        } else if x[i] == 8 {
            64
        } else if x[i] == 9 {
            81
        } else if x[i] == 10 {
            3
        } else if x[i] == 11 {
            24
        } else if x[i] == 12 {
            47
        } else if x[i] == 13 {
            72
        } else if x[i] == 14 {
            2
        } else if x[i] == 15 {
            31
        } else if x[i] == 16 {
            62
        } else if x[i] == 17 {
            95
        } else if x[i] == 18 {
            33
        } else if x[i] == 19 {
            70
        } else if x[i] == 20 {
            12
        } else if x[i] == 21 {
            53
        } else if x[i] == 22 {
            96
        } else if x[i] == 23 {
            44
        } else if x[i] == 24 {
            91
        } else if x[i] == 25 {
            43
        } else if x[i] == 26 {
            94
        } else if x[i] == 27 {
            50
        } else if x[i] == 28 {
            8
        } else if x[i] == 29 {
            65
        } else if x[i] == 30 {
            27
        } else if x[i] == 31 {
            88
        } else if x[i] == 32 {
            54
        } else if x[i] == 33 {
            22
        } else if x[i] == 34 {
            89
        } else if x[i] == 35 {
            61
        } else if x[i] == 36 {
            35
        } else if x[i] == 37 {
            11
        } else if x[i] == 38 {
            86
        } else if x[i] == 39 {
            66
        } else if x[i] == 40 {
            48
        } else if x[i] == 41 {
            32
        } else if x[i] == 42 {
            18
        } else if x[i] == 43 {
            6
        } else if x[i] == 44 {
            93
        } else if x[i] == 45 {
            85
        } else if x[i] == 46 {
            79
        } else if x[i] == 47 {
            75
        } else if x[i] == 48 {
            73
        } else if x[i] == 49 {
            73
        } else if x[i] == 50 {
            75
        } else if x[i] == 51 {
            79
        } else if x[i] == 52 {
            85
        } else if x[i] == 53 {
            93
        } else if x[i] == 54 {
            6
        } else if x[i] == 55 {
            18
        } else if x[i] == 56 {
            32
        } else if x[i] == 57 {
            48
        } else if x[i] == 58 {
            66
        } else if x[i] == 59 {
            86
        } else if x[i] == 60 {
            11
        } else if x[i] == 61 {
            35
        } else if x[i] == 62 {
            61
        } else if x[i] == 63 {
            89
        } else if x[i] == 64 {
            22
        } else if x[i] == 65 {
            54
        } else if x[i] == 66 {
            88
        } else if x[i] == 67 {
            27
        } else if x[i] == 68 {
            65
        } else if x[i] == 69 {
            8
        } else if x[i] == 70 {
            50
        } else if x[i] == 71 {
            94
        } else if x[i] == 72 {
            43
        } else if x[i] == 73 {
            91
        } else if x[i] == 74 {
            44
        } else if x[i] == 75 {
            96
        } else if x[i] == 76 {
            53
        } else if x[i] == 77 {
            12
        } else if x[i] == 78 {
            70
        } else if x[i] == 79 {
            33
        } else if x[i] == 80 {
            95
        } else if x[i] == 81 {
            62
        } else if x[i] == 82 {
            31
        } else if x[i] == 83 {
            2
        } else if x[i] == 84 {
            72
        } else if x[i] == 85 {
            47
        } else if x[i] == 86 {
            24
        } else if x[i] == 87 {
            3
        } else if x[i] == 88 {
            81
        } else if x[i] == 89 {
            64
        } else if x[i] == 90 {
            49
        } else if x[i] == 91 {
            36
        } else if x[i] == 92 {
            25
        } else if x[i] == 93 {
            16
        } else if x[i] == 94 {
            9
        } else if x[i] == 95 {
            4
        } else if x[i] == 96 {
            1
        } else {
            1
        };
    }
}

fn main() {}
