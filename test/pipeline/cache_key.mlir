// Entries of the cache are code: those of another key, and a folder that others may write to, are not used, and the program runs all the same.
// RUN: rm -rf %t.*
// RUN: echo 'export STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache; other() { STRATA_CACHE_KEY=$(printf "0b%%.0s" {1..32}) "$@"; }' > %t.env
// RUN: . %t.env; rs-run %s | FileCheck %s --check-prefix=RUNS
// RUN: . %t.env; rs-cache export %t.zip
// RUN: . %t.env; other rs-run %s --explain-cache 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: . %t.env; other rs-run %s --explain-cache 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: . %t.env; not rs-cache verify | FileCheck %s --check-prefix=VERIFY
// RUN: . %t.env; other not rs-cache import %t.zip 2>&1 | FileCheck %s --check-prefix=IMPORT
// RUN: . %t.env; rs-cache import %t.zip | FileCheck %s --check-prefix=OURS

// RUNS: output
// OTHER: warning: cache entry build/{{.*}} is not used: it is whole but not authentic
// OTHER-NOT: warning
// OTHER: not in the cache: nothing was compiled yet
// OTHER: output
// AGAIN-NOT: warning
// AGAIN: in the cache
// VERIFY-COUNT-4: is whole but not authentic
// VERIFY: 4 entries are whole, 0 of them authentic; 4 were removed
// IMPORT: 4 entries were written with another key; to use them set STRATA_CACHE_KEY
// OURS: took 4 entries in, left out 0 that are damaged and 0 that are not authentic

// RUN: . %t.env; chmod 777 %t.cache; rs-run %s 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: . %t.env; not rs-cache stat 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: . %t.env; rs-opt %s --incremental --canonicalize 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: chmod 700 %t.cache

// FOLDER: warning: cache {{.*}}: others may write to it (its mode is 0777); take that from them (chmod go-w
// FOLDER-SAME: goes on without a cache
// FOLDER-NOT: warning
// FOLDER: output
// REFUSED: rs-cache: cache {{.*}}: others may write to it
// PASSES: others may write to it
// PASSES: aten.relu

// The user's own key is made at first use; a bad one is no key.
// RUN: . %t.env; env -u STRATA_CACHE_KEY XDG_CONFIG_HOME=%t.config STRATA_CACHE_DIR=%t.own rs-run %s | FileCheck %s --check-prefix=RUNS
// RUN: stat -c %%a %t.config/strata/cache.key | FileCheck %s --check-prefix=MODE
// RUN: . %t.env; STRATA_CACHE_KEY=0123 rs-run %s 2>&1 | FileCheck %s --check-prefix=SHORT

// MODE: {{^}}600
// SHORT: warning: cache key STRATA_CACHE_KEY: it is neither 64 hexadecimal digits nor a path
// SHORT-NOT: 0123
// SHORT: output

// A team's cache that is not there costs one warning, the compiler's part of the process included.
// RUN: . %t.env; STRATA_CACHE_DIR=%t.team STRATA_CACHE_REMOTE=redis://:hidden@127.0.0.1:1 rs-run %s 2>&1 | FileCheck %s --check-prefix=TEAM

// TEAM-NOT: hidden
// TEAM: warning: remote cache redis://127.0.0.1:1: {{.*}}; this process goes on with what is on disk
// TEAM-NOT: warning
// TEAM: output

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
