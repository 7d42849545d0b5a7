//! Graphs, page-locked memory, copies between devices, cooperative launches, and the properties of devices.

use gcn_dsl::LaunchError;
use gcn_dsl::prelude::*;

use super::super::devices;
use super::{add, double, square};

gcn_kernel! {
    /// Each workgroup signals its arrival and waits for all others.
    #[workgroup(64)]
    fn meet(arrived: &mut [u32], seen: &mut [u32]) {
        let groups = seen.len();
        if local_id().x == 0 {
            arrived.atomic(0).fetch_add(1, Scope::Agent, Ordering::AcqRel);
        }
        let mut count = local_id().x & 0;
        while count < groups {
            count = arrived.atomic(0).load(Scope::Agent, Ordering::Acquire);
        }
        if local_id().x == 0 {
            seen[workgroup_id().x] = count;
        }
    }
}

#[test]
fn graphs_are_replayed() {
    for device in devices() {
        let target = device.target();
        let adding = device.load(&add.build(target).unwrap()).unwrap();
        let doubling = device.load(&double::<u32>.build(target).unwrap()).unwrap();
        let [one, two] = [device.stream().unwrap(), device.stream().unwrap()];
        let (mut x, mut y) = (device.zeroed::<u32>(100).unwrap(), device.zeroed::<u32>(100).unwrap());
        let mut z = device.zeroed::<u32>(8).unwrap();
        let mut steps = device.graph();
        steps.launch(&adding, Grid::x(1), (3, &mut x)).unwrap();
        steps.launch(&doubling, Grid::x(1), (&mut x.slice_mut(50..).unwrap(),)).unwrap();
        steps.copy(&x, &mut y).unwrap().fill_bytes(&mut z, 0x11).unwrap();
        steps.copy(&y.slice(..4).unwrap(), &mut z.slice_mut(4..).unwrap()).unwrap();
        let graph = steps.build().unwrap();
        assert_eq!(y.to_vec().unwrap(), [0; 100], "nothing has run yet");
        let (mut low, mut high) = (0, 0);
        for n in 0..6 {
            // Between replays on two streams, other work uses the buffers.
            [&one, &two][n % 2].replay(&graph).unwrap();
            two.launch(&adding, Grid::x(1), (1, &mut x)).unwrap();
            (low, high) = (low + 3, (high + 3) * 2);
            assert_eq!(y.to_vec().unwrap(), [[low; 50], [high; 50]].concat());
            assert_eq!(z.to_vec().unwrap(), [[0x1111_1111; 4], [low; 4]].concat());
            (low, high) = (low + 1, high + 1);
        }
        // The graph keeps alive what it uses.
        drop((x, z, adding, doubling));
        one.replay(&graph).unwrap();
        drop(graph);
        assert_eq!(y.to_vec().unwrap(), [[low + 3; 50], [(high + 3) * 2; 50]].concat());
        // The same for a graph without steps.
        one.replay(&device.graph().build().unwrap()).unwrap();
    }
}

#[test]
fn graphs_refuse_what_does_not_belong() {
    for device in devices() {
        let other = Device::simulator(device.target());
        let kernel = device.load(&add.build(device.target()).unwrap()).unwrap();
        let (mut x, mut y) = (device.zeroed::<u32>(8).unwrap(), other.zeroed::<u32>(8).unwrap());
        let mut steps = device.graph();
        let error = steps.launch(&kernel, Grid::x(1), (1, &mut y)).unwrap_err();
        assert!(matches!(error, LaunchError::OtherDevice { what: "the buffer" }), "{error}");
        let error = steps.launch(&kernel, Grid::x(1).cooperative(), (1, &mut x)).unwrap_err();
        assert!(matches!(error, LaunchError::CooperativeStep { .. }), "{error}");
        let error = steps.copy(&x.slice(..3).unwrap(), &mut y).unwrap_err();
        assert!(matches!(error, LaunchError::Length { from: 3, to: 8 }), "{error}");
        let graph = steps.build().unwrap();
        let error = other.stream().unwrap().replay(&graph).unwrap_err();
        assert!(matches!(error, LaunchError::OtherDevice { what: "the graph" }), "{error}");
    }
}

#[test]
fn page_locked_memory_is_used_again() {
    for device in devices() {
        let squaring = device.load(&square.build(device.target()).unwrap()).unwrap();
        let [one, two] = [device.stream().unwrap(), device.stream().unwrap()];
        let (mut x, mut y) = (device.zeroed::<f32>(300).unwrap(), device.zeroed::<f32>(300).unwrap());
        let mut staging = device.pinned::<f32>(300).unwrap();
        assert_eq!((staging.len(), staging.is_empty()), (300, false));
        assert_eq!(staging.to_vec().unwrap(), [0.0; 300]);
        for n in 1..5 {
            let n = n as f32;
            staging.copy_from_slice(&[n; 300]).unwrap();
            one.upload_pinned(&mut staging, &mut x).unwrap();
            two.launch(&squaring, Grid::x(2), (&x, &mut y)).unwrap();
            two.download_pinned(&y, &mut staging).unwrap();
            assert_eq!(staging.to_vec().unwrap(), [n * n; 300]);
        }
        let error = staging.copy_from_slice(&[0.0; 299]).unwrap_err();
        assert!(matches!(error, LaunchError::Length { from: 299, to: 300 }), "{error}");
        let error = one.upload_pinned(&mut staging, &mut y.slice_mut(1..).unwrap()).unwrap_err();
        assert!(matches!(error, LaunchError::Length { from: 300, to: 299 }), "{error}");
        let mut elsewhere = Device::simulator(device.target()).pinned::<f32>(300).unwrap();
        let error = one.download_pinned(&x, &mut elsewhere).unwrap_err();
        assert!(matches!(error, LaunchError::OtherDevice { .. }), "{error}");
    }
}

/// The devices in the list are of the same kind.
#[test]
fn elements_go_from_device_to_device() {
    let devices = devices();
    for (from, to) in [(0, 1), (1, 0), (0, 0)] {
        let (from, to) = (&devices[from], &devices[to]);
        let [there, here] = [from.stream().unwrap(), to.stream().unwrap()];
        let mut x = from.upload(&[1u32, 2, 3, 4]).unwrap();
        let mut y = to.zeroed::<u32>(6).unwrap();
        add.launch(&there, Grid::x(1), (10, &mut x)).unwrap();
        here.copy_peer(&x, &mut y.slice_mut(1..5).unwrap()).unwrap();
        // Ordered after the copy, which a stream of the other device executes.
        there.zero(&mut x).unwrap();
        add.launch(&here, Grid::x(1), (100, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [100, 111, 112, 113, 114, 100]);
        assert_eq!(x.to_vec().unwrap(), [0; 4]);
        let error = here.copy_peer(&x, &mut y).unwrap_err();
        assert!(matches!(error, LaunchError::Length { from: 4, to: 6 }), "{error}");
    }
}

/// As many workgroups as fit on the device can wait for each other; one more is rejected.
#[test]
fn workgroups_of_a_cooperative_launch_wait_for_each_other() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let meeting = device.load(&meet.build(device.target()).unwrap()).unwrap();
        for groups in [1, 5, 64] {
            let mut arrived = device.zeroed::<u32>(1).unwrap();
            let mut seen = device.zeroed::<u32>(groups).unwrap();
            let grid = Grid::x(groups as u32).cooperative();
            stream.launch(&meeting, grid, (&mut arrived, &mut seen)).unwrap();
            assert_eq!(seen.to_vec().unwrap(), vec![groups as u32; groups]);
        }
        // If each workgroup uses the maximum LDS size, one fits on a compute unit, and two fit on a workgroup
        // processor, which has twice as much LDS.
        let properties = device.properties().unwrap();
        let lds = properties.lds_bytes;
        let most = if device.target().has_workgroup_processors() { 2 } else { 1 };
        assert_eq!(meeting.workgroups_per_cu(lds).unwrap(), most);
        assert!(meeting.workgroups_per_cu(0).unwrap() > most);
        let too_many = most * properties.compute_units + 1;
        let grid = Grid::x(too_many).with_dynamic_lds(lds).cooperative();
        let mut arrived = device.zeroed::<u32>(1).unwrap();
        let mut seen = device.zeroed::<u32>(too_many as usize).unwrap();
        assert!(stream.launch(&meeting, grid, (&mut arrived, &mut seen)).is_err());
        assert_eq!(arrived.to_vec().unwrap(), [0]);
    }
}

#[test]
fn devices_say_what_they_are() {
    for device in devices() {
        let properties = device.properties().unwrap();
        assert_eq!(properties.target, device.target());
        assert!(!properties.name.is_empty());
        // The compute units of AMD Instinct MI60, MI250X (one die) and MI300X, and half of those of Radeon RX 5700 XT
        // (40), 6900 XT (80), 7900 XTX (96), 8060S (40) and RX 9070 XT (64). A workgroup has at most 64 KiB of LDS.
        let units = match device.target() {
            Target::GFX906 => 64,
            Target::GFX90A => 110,
            Target::GFX942 => 304,
            Target::GFX1010 | Target::GFX1151 => 20,
            Target::GFX1030 => 40,
            Target::GFX1100 => 48,
            Target::GFX1201 => 32,
            other => panic!("how many compute units has {other}?"),
        };
        assert_eq!((properties.compute_units, properties.lds_bytes), (units, 65536));
        assert!(device.access_peer(&device).unwrap());
    }
}
