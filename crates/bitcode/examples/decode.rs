//! Decodes every body of the given bitcode files and says how long it took: a quick check by hand.

use std::time::Instant;

use drip_bitcode::RawModule;

fn main() {
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("{path}: cannot read");
            continue;
        };
        let size = bytes.len();
        let start = Instant::now();
        let module = match RawModule::parse(bytes, &path) {
            Ok(module) => module,
            Err(error) => {
                eprintln!("{error}");
                continue;
            }
        };
        let parsed = start.elapsed();
        let (mut bodies, mut insts, mut errors) = (0, 0, 0);
        for index in 0..module.functions.len() {
            if !module.has_body(index) {
                continue;
            }
            match module.decode_body(index) {
                Ok(body) => {
                    bodies += 1;
                    insts += body.insts.len();
                }
                Err(error) => {
                    errors += 1;
                    eprintln!("{}: {error}", module.functions[index].name);
                }
            }
        }
        println!(
            "{path}: {size} bytes, {} functions, {bodies} bodies, {insts} instructions, {errors} errors; \
             parse {parsed:?}, all {:?}",
            module.functions.len(),
            start.elapsed()
        );
    }
}
