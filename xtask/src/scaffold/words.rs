//! The names that templates are filled with. The test of the templates fills them in the same way.

/// A name in the three ways it is written.
pub struct Words {
    /// `fuse_more`
    pub snake: String,
    /// `FuseMore`
    pub camel: String,
    /// `fuse-more`
    pub kebab: String,
}

impl Words {
    /// Reads a name in snake or kebab case.
    pub fn new(name: &str) -> Result<Words, String> {
        let snake = name.replace('-', "_");
        let plain = snake.starts_with(|c: char| c.is_ascii_lowercase()) && snake.split('_').all(|word| !word.is_empty());
        if !plain || !snake.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            return Err(format!("`{name}` is no name: write it like `fuse_elementwise`"));
        }
        let camel = snake.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        Ok(Words { kebab: snake.replace('_', "-"), snake, camel })
    }

    /// A template with the name put in.
    pub fn fill(&self, template: &str) -> String {
        template.replace("SNAKE", &self.snake).replace("CAMEL", &self.camel).replace("KEBAB", &self.kebab)
    }
}
