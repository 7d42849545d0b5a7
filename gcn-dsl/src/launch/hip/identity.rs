//! The identity of a device: its PCI address, whether it is simulated, and the version of its driver.

use std::ffi::{CStr, c_int};

use super::api::Api;
use super::{HipDevice, HipError};

/// More bytes than any address has; `0000:03:00.0` and its terminator take 13.
const ADDRESS_BYTES: usize = 64;

impl HipDevice {
    /// The device's address on the PCI bus, for example `0000:03:00.0`: domain, bus, device and function in hexadecimal, as
    /// Linux names it (`PCI_SLOT_NAME`).
    ///
    /// # Errors
    /// [`HipError::MissingFunction`], [`HipError::Call`].
    pub fn pci_address(&self) -> Result<String, HipError> {
        let (api, mut address) = (&self.context.api, [0u8; ADDRESS_BYTES]);
        let function = Api::newer(&api.functions.hipDeviceGetPCIBusId)?;
        // SAFETY: as many bytes may be written.
        let code =
            unsafe { function(address.as_mut_ptr().cast(), ADDRESS_BYTES as c_int, self.context.ordinal) };
        api.check("hipDeviceGetPCIBusId", code)?;
        let text = CStr::from_bytes_until_nul(&address).map(CStr::to_string_lossy).unwrap_or_default();
        Ok(text.to_lowercase())
    }

    /// True if the device is the simulator of this workspace's HIP library (`gcn run`), not hardware.
    ///
    /// # Errors
    /// [`HipError::Call`].
    pub fn is_simulated(&self) -> Result<bool, HipError> {
        let (api, mut id) = (&self.context.api, [0u8; 16]);
        // Libraries without the function are older than the simulator's.
        let Ok(function) = api.functions.hipDeviceGetUuid.as_ref() else { return Ok(false) };
        // SAFETY: a `hipUUID` has 16 bytes, which may be written.
        let code = unsafe { function(id.as_mut_ptr().cast(), self.context.ordinal) };
        api.check("hipDeviceGetUuid", code)?;
        Ok(id.starts_with(gcn_sim::DEVICE_UUID.as_bytes()))
    }

    /// The version of the driver, for example `7.1.25424`: HIP's number, not that of the kernel module.
    ///
    /// # Errors
    /// [`HipError::MissingFunction`], [`HipError::Call`].
    pub fn driver_version(&self) -> Result<String, HipError> {
        let (api, mut version) = (&self.context.api, 0);
        let function = Api::newer(&api.functions.hipDriverGetVersion)?;
        // SAFETY: `version` may be written.
        let code = unsafe { function(&raw mut version) };
        api.check("hipDriverGetVersion", code)?;
        // `HIP_VERSION` of hip_version.h: 10,000,000 * major + 100,000 * minor + patch.
        Ok(format!("{}.{}.{}", version / 10_000_000, version / 100_000 % 100, version % 100_000))
    }
}
