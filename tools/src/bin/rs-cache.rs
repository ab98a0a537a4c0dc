//! `rs-cache`: looks at the store of compiled programs and keeps it in order.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use strata_store::{Kind, Moved, Settings, Store};
use strata_tools::cached;
use strata_tools::compile_options::CompileOptions;
use strata_tools::start;

/// Look at the cache of compiled programs and keep it in order.
///
/// It lies in $STRATA_CACHE_DIR, or in the user's cache folder; $STRATA_CACHE_SIZE bounds it. Only entries that were written with
/// its key are used: $STRATA_CACHE_KEY, or the user's own.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Entries and bytes by kind
    Stat,
    /// Say whether a program is in the cache as compiled for this machine, and if not, what differs from the nearest entry
    Why {
        /// The model: .pt2 or .mlir
        model: PathBuf,
        #[command(flatten)]
        options: Box<CompileOptions>,
    },
    /// Read and check every entry; remove what is damaged, and what was not written with this cache's key
    Verify,
    /// Remove the entries used longest ago, down to a size
    Gc {
        /// The size to keep, in bytes; default: the cache's bound
        #[arg(long, value_name = "BYTES")]
        keep: Option<u64>,
    },
    /// Write the entries to one file
    Export {
        /// The file to write
        file: PathBuf,
        /// Only entries of this kind
        #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(Kind::ALL.map(Kind::name)))]
        kind: Option<String>,
    },
    /// Take the entries of an exported file in that were written with this cache's key
    Import {
        /// The file to read
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    start("rs-cache", || run(Arguments::parse().command))
}

fn open(size: Option<u64>) -> Result<Store, Box<dyn Error>> {
    let store = Store::open(&Settings { size, ..Settings::default() })?;
    store.ok_or_else(|| format!("the cache is off ({}=0)", strata_store::SIZE_VARIABLE).into())
}

fn left_out(moved: Moved) -> String {
    format!("{} that are damaged and {} that are not authentic", moved.damaged, moved.strange)
}

fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    match command {
        Command::Stat => {
            let store = open(None)?;
            println!("{}", store.root().display());
            for (kind, stat) in store.stat() {
                println!("{:<9} {:>8} entries {:>14} bytes", kind.name(), stat.entries, stat.bytes);
            }
        }
        Command::Why { model, options } => {
            let store = open(None)?;
            let parts = cached::parts(&model, &options.json()?, &cached::build(&store)?)?;
            println!("{}: {}", model.display(), cached::explain(&store, &parts));
        }
        Command::Verify => {
            let verified = open(None)?.verify();
            for (path, reason) in &verified.removed {
                println!("removed {}: {reason}", path.display());
            }
            println!(
                "{} entries are whole, {} of them authentic; {} were removed",
                verified.whole,
                verified.authentic,
                verified.removed.len()
            );
            return Ok(verified.removed.is_empty());
        }
        Command::Gc { keep } => {
            let freed = open(keep.map(|keep| keep.max(1)))?.gc()?;
            println!("removed {} entries, {} bytes", freed.entries, freed.bytes);
        }
        Command::Export { file, kind } => {
            let moved = open(None)?.export(&file, kind.as_deref().and_then(Kind::named))?;
            println!("wrote {} entries, left out {}", moved.entries, left_out(moved));
        }
        Command::Import { file } => {
            let moved = open(None)?.import(&file)?;
            println!("took {} entries in, left out {}", moved.entries, left_out(moved));
            if moved.strange > 0 {
                return Err(format!(
                    "{}: {} entries were written with another key; to use them set {} to the key of where they come from",
                    file.display(),
                    moved.strange,
                    strata_store::KEY_VARIABLE
                )
                .into());
            }
            return Ok(moved.damaged == 0);
        }
    }
    Ok(true)
}
