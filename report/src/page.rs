//! The page: one file of HTML with its data, its style and its script in it.

use crate::Report;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

impl Report {
    /// The report as a page that needs no other file and no network.
    ///
    /// # Errors
    /// None in practice: all values of a report have a form in JSON.
    pub fn page(&self) -> Result<String, serde_json::Error> {
        let timeline = self.timeline();
        let data = format!("{{\"report\":{},\"timeline\":{timeline}}}", serde_json::to_string(self)?);
        // A text of the program may not end the element that it stands in, nor begin a comment.
        let data = data.replace('<', "\\u003c");
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
        let part = |(at, text): (usize, &str)| match (at % 2, text) {
            (1, "title") => title.clone(),
            (1, "style") => STYLE.to_owned(),
            (1, "script") => SCRIPT.to_owned(),
            (1, "data") => data.clone(),
            _ => text.to_owned(),
        };
        Ok(PAGE.split("@@").enumerate().map(part).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_program_stay_data() {
        let report = Report { title: "a<b & @@data@@".into(), notes: vec!["</script><!-- @@script@@".into()], ..Report::default() };
        let page = report.page().expect("it has a page");
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        assert!(page.contains("@@script@@") && page.contains("a&lt;b &amp; @@data@@"), "{page}");
    }
}
