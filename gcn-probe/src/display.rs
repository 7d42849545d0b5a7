//! Finds the displays that a GPU drives. A program that hangs the GPU also freezes its displays, and with them the session of the user
//! there.

use std::fs;
use std::path::Path;

/// The connectors to which a display is connected, such as `card1-DP-1`, of the GPU with this address on the PCI bus (`0000:03:00.0`).
/// `sys` is the folder `/sys` of Linux: `class/drm/card*/device/uevent` in it contains the address of each card (`PCI_SLOT_NAME`), and
/// `class/drm/card*-*/status` the state of each connector. The result is empty if these files do not exist.
pub fn connected(sys: &Path, address: &str) -> Vec<String> {
    let drm = sys.join("class/drm");
    let Ok(entries) = fs::read_dir(&drm) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let read = |path: &str| fs::read_to_string(drm.join(path)).unwrap_or_default();
    let is_own = |card: &str| {
        let facts = read(&format!("{card}/device/uevent"));
        let mut slots = facts.lines().filter_map(|line| line.strip_prefix("PCI_SLOT_NAME="));
        slots.any(|slot| slot.eq_ignore_ascii_case(address))
    };
    let is_driven = |name: &String| {
        let card = name.split_once('-').map(|(card, _)| card);
        card.is_some_and(is_own) && read(&format!("{name}/status")).trim() == "connected"
    };
    let mut connectors: Vec<String> = names.filter(is_driven).collect();
    connectors.sort_unstable();
    connectors
}

/// Refuses GPU number `device` with this address on the PCI bus if it drives a display.
///
/// # Errors
/// A message with the connectors and the remedies.
pub fn refuse(sys: &Path, address: &str, device: u32) -> Result<(), String> {
    let displays = connected(sys, address);
    if displays.is_empty() {
        return Ok(());
    }
    Err(format!(
        "GPU {device} drives a display ({}), which a program that hangs may stop; choose another GPU with `--device`, or allow it \
         with `--allow-display`",
        displays.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A laptop with a separate GPU, a card with a display on one of two connectors, and a card without connectors.
    #[test]
    fn a_display_is_the_gpu_s_that_has_the_address() {
        let root = std::env::temp_dir().join(format!("gcn-probe-sys-{}", std::process::id()));
        let file = |path: &str, text: &str| {
            let path = root.join("class/drm").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let card = |name: &str, slot: &str| {
            file(&format!("{name}/device/uevent"), &format!("DRIVER=amdgpu\nPCI_SLOT_NAME={slot}\n"));
        };
        card("card0", "0000:00:02.0");
        card("card1", "0000:03:00.0");
        card("card2", "0001:c1:00.0");
        file("card0-eDP-1/status", "connected\n");
        file("card1-DP-1/status", "disconnected\n");
        file("card1-HDMI-A-1/status", "connected\n");
        file("card10-DP-1/status", "connected\n");
        file("renderD128/device/uevent", "PCI_SLOT_NAME=0001:c1:00.0\n");
        assert_eq!(connected(&root, "0000:03:00.0"), ["card1-HDMI-A-1"]);
        assert_eq!(connected(&root, "0000:00:02.0"), ["card0-eDP-1"]);
        // The address in HIP's spelling, and a card without a display.
        assert!(connected(&root, "0001:C1:00.0").is_empty());
        assert!(connected(&root, "0000:04:00.0").is_empty());
        assert!(connected(&root.join("nothing"), "0000:03:00.0").is_empty());
        let refused = refuse(&root, "0000:03:00.0", 1).unwrap_err();
        assert!(refused.starts_with("GPU 1 drives a display (card1-HDMI-A-1)"), "{refused}");
        assert!(refused.contains("`--device`") && refused.contains("`--allow-display`"), "{refused}");
        assert_eq!(refuse(&root, "0001:C1:00.0", 2), Ok(()));
        fs::remove_dir_all(root).unwrap();
    }
}
