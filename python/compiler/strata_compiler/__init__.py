"""Where the compiler's library lies; the package `strata` opens it when there is something to compile."""
