//! The interpreter's aten arms against PyTorch's outputs.
//!
//! By default all of the model groups and a sample of the operator groups; `STRATA_CORPUS=` takes
//! prefixes of case names, comma separated, and `STRATA_CORPUS=all` takes every case.

mod aten;

use aten::{Report, cases, folder, run, schema::Schemas};

/// Groups that must pass entirely.
const COMPLETE: &[&str] = &["seeds", "models", "dynmodels", "train", "trainstep", "dynops"];
/// Of the other groups, every so many cases are run.
const SAMPLE: usize = 12;

#[test]
fn arms_agree_with_pytorch() {
    let Some(folder) = folder() else { return };
    let schemas = Schemas::open(&folder.join("../aten_schemas.json"));
    let filter = std::env::var("STRATA_CORPUS").unwrap_or_default();
    let mut report = Report::default();
    for (k, case) in cases(&folder).iter().enumerate() {
        let (name, group) = (case["name"].as_str().unwrap_or_default(), case["group"].as_str().unwrap_or_default());
        let wanted = match filter.as_str() {
            "" => COMPLETE.contains(&group) || k % SAMPLE == 0,
            "all" => true,
            prefixes => prefixes.split(',').any(|p| name.starts_with(p)),
        };
        if wanted {
            report.add(case, run(&folder, &schemas, case));
        }
    }
    for line in &report.lines {
        println!("{line}");
    }
    let (mut passed, mut total) = (0, 0);
    for (group, [pass, missing, fail]) in &report.groups {
        println!("{group:10} passed {pass}, without an arm {missing}, failed {fail}");
        assert!(!COMPLETE.contains(&group.as_str()) || missing + fail == 0, "group {group} is not complete");
        passed += pass;
        total += pass + missing + fail;
    }
    assert!(!filter.is_empty() || passed * 100 >= total * 90, "{passed} of {total} cases pass");
}
