//! What NVIDIA's assembler makes of a program's kernels, where there is one: machine code (`--emit=cubin`), and with `--print-kernels` how
//! many of them fit on a device.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use strata_runtime::Manifest;
use strata_runtime::manifest::{DeviceCode, DeviceKernel, DeviceModule};

/// What a multiprocessor has.
#[derive(Debug, Clone, Copy)]
pub struct Multiprocessor {
    /// Blocks at a time.
    pub blocks: u32,
    /// Registers, and how many a warp gets at a time.
    pub registers: (u32, u32),
    /// Bytes of shared memory, and how many the system keeps of each block's.
    pub shared: (u32, u32),
    /// Threads at a time.
    pub threads: u32,
    /// Threads of a warp.
    pub warp: u32,
}

/// What the assembler says of a kernel.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Use {
    registers: u32,
    shared: u32,
    spilled: u32,
}

/// A table of the kernels for each architecture, of which `device` says what a multiprocessor has.
pub fn table(manifest: &Manifest, device: impl Fn(&str) -> Option<Multiprocessor>) -> String {
    let Some(code) = &manifest.device else { return "the program has no kernels for a device; name one with --target=cuda:sm_90".into() };
    let tables = code.modules.iter().map(|module| one(manifest, (code, module), device(&module.architecture)));
    tables.collect::<Vec<_>>().join("\n")
}

fn one(manifest: &Manifest, (code, module): (&DeviceCode, &DeviceModule), device: Option<Multiprocessor>) -> String {
    let known = assemble(module);
    let mut lines = vec![format!("{}: {} kernels", module.architecture, code.kernels.len())];
    if let Err(reason) = &known {
        lines.push(format!("not assembled: {reason}; put ptxas into PATH, or name it by STRATA_PTXAS"));
    }
    lines.push(format!(
        "{:<16} {:>7} {:>9} {:>8} {:>7} {:>9} {:>12}",
        "kernel", "threads", "registers", "shared", "spills", "occupancy", "bytes"
    ));
    let known = known.unwrap_or_default();
    lines.extend(code.kernels.iter().map(|kernel| {
        let moved = manifest.kernels.iter().find(|described| described.name == kernel.name).and_then(|described| described.bytes);
        let moved = moved.map_or_else(|| "by size".to_owned(), |bytes| bytes.to_string());
        let [registers, shared, spilled, occupancy] = match known.get(&kernel.name) {
            None => ["-"; 4].map(str::to_owned),
            Some(used) => {
                let occupancy = device.map(|device| occupancy(device, kernel, *used));
                let occupancy = occupancy.map_or_else(|| "-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
                [used.registers.to_string(), used.shared.to_string(), used.spilled.to_string(), occupancy]
            }
        };
        format!("{:<16} {:>7} {registers:>9} {shared:>8} {spilled:>7} {occupancy:>9} {moved:>12}", kernel.name, threads(kernel))
    }));
    lines.join("\n")
}

/// Threads of a block.
fn threads(kernel: &DeviceKernel) -> u32 {
    kernel.threads.iter().product()
}

/// The share of a multiprocessor's threads that run at a time.
fn occupancy(device: Multiprocessor, kernel: &DeviceKernel, used: Use) -> f64 {
    let warps = threads(kernel).div_ceil(device.warp).max(1);
    let (all, at_a_time) = device.registers;
    let registers = (used.registers * device.warp).next_multiple_of(at_a_time) * warps;
    let by_registers = all.checked_div(registers).unwrap_or(device.blocks);
    let by_shared = device.shared.0.checked_div(used.shared + device.shared.1).unwrap_or(device.blocks);
    let blocks = device.blocks.min(device.threads / (warps * device.warp)).min(by_registers).min(by_shared);
    f64::from(blocks * warps * device.warp) / f64::from(device.threads)
}

/// What the assembler reports of a module's kernels, or why there is none.
fn assemble(module: &DeviceModule) -> Result<HashMap<String, Use>, String> {
    run(&module.ptx, &module.architecture, Path::new("/dev/null")).map(|report| read(&report))
}

/// Writes the machine code of some PTX, where there is an assembler.
pub fn cubin(ptx: &str, to: &Path) -> Result<(), String> {
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target "));
    let architecture = target.and_then(|list| list.split(',').next()).ok_or("the program has no kernels for a device")?;
    let failed = |reason| format!("not assembled: {reason}; put ptxas into PATH, or name it by STRATA_PTXAS");
    run(ptx, architecture.trim(), to).map(drop).map_err(failed)
}

/// Runs the assembler; its report.
fn run(ptx: &str, architecture: &str, to: &Path) -> Result<String, String> {
    let assembler = std::env::var_os("STRATA_PTXAS").unwrap_or_else(|| "ptxas".into());
    let mut command = Command::new(&assembler);
    command.arg(format!("-arch={architecture}")).args(["-v", "-", "-o"]).arg(to);
    let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut running = started.map_err(|error| format!("{}: {error}", assembler.display()))?;
    if let Some(mut input) = running.stdin.take() {
        // An assembler that stops reading says why at its end.
        let _ = input.write_all(ptx.as_bytes());
    }
    let done = running.wait_with_output().map_err(|error| error.to_string())?;
    let report = [done.stderr, done.stdout].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    if done.status.success() { Ok(report) } else { Err(report.trim().to_owned()) }
}

/// The report by kernel.
fn read(report: &str) -> HashMap<String, Use> {
    let mut found: HashMap<String, Use> = HashMap::new();
    let mut kernel = String::new();
    for line in report.lines() {
        if let Some(name) = line.split_once("entry function '").and_then(|(_, rest)| rest.split_once('\'')) {
            kernel = name.0.to_owned();
        }
        // The number in front of what it counts.
        let before = |what: &str| -> Option<u32> {
            let number = line.split_once(what)?.0.trim_end();
            number.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let used = found.entry(kernel.clone()).or_default();
        used.spilled += before("bytes spill stores").unwrap_or(0);
        if let Some(registers) = before("registers") {
            (used.registers, used.shared) = (registers, before("bytes smem").unwrap_or(0));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_read_and_kernels_fit() {
        let report = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'k0' for 'sm_80'\n\
            ptxas info    : Function properties for k0\n    0 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
            ptxas info    : Used 128 registers, used 1 barriers, 40960 bytes smem, 400 bytes cmem[0]\n";
        let used = read(report)["k0"];
        assert_eq!(used, Use { registers: 128, shared: 40960, spilled: 12 });
        let kernel = DeviceKernel { name: "k0".into(), threads: [256, 1, 1], ..DeviceKernel::default() };
        let device =
            |threads, shared| Multiprocessor { blocks: 32, registers: (1 << 16, 256), shared: (shared, 1 << 10), threads, warp: 32 };
        let [small, large] = [device(1536, 100 << 10), device(2048, 228 << 10)];
        // Two blocks by their registers.
        assert_eq!(occupancy(large, &kernel, used), 0.25);
        // One more by shared memory than by threads would be too many.
        assert_eq!(occupancy(large, &kernel, Use { registers: 32, shared: 100 << 10, spilled: 0 }), 0.25);
        assert_eq!(occupancy(small, &kernel, Use { registers: 16, ..Use::default() }), 1.0);
    }
}
