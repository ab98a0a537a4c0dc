//! How every tool starts and ends: its answer is the exit status, an error is one line that begins with its name.

use std::error::Error;
use std::process::ExitCode;

/// What a shell reports of a program that SIGPIPE ended.
const READER_WENT: u8 = 141;

/// Runs a tool. `Ok(false)` says that it did its work and that not all was well; whatever was wrong has been printed.
///
/// Where the reader of its output goes away (`| head`) the tool ends without a word, as one in C does.
pub fn start(name: &str, run: impl FnOnce() -> Result<bool, Box<dyn Error>>) -> ExitCode {
    end_with_the_reader();
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if reader_went(&*error) => ExitCode::from(READER_WENT),
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `println!` panics where nobody reads any more; the signal that would end a C program stays off, for writes to a worker
/// that died must be errors.
fn end_with_the_reader() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            std::process::exit(READER_WENT.into());
        }
        report(panic);
    }));
}

fn reader_went(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
