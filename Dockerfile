# drip with the clang that it needs:
#
#   docker build -t drip .
#   docker run --rm -v "$PWD:/src" drip check -- make
FROM rust:1-bookworm AS build
WORKDIR /drip
COPY . .
RUN rustup target add x86_64-unknown-linux-musl \
 && cargo build --release --locked --package drip-cli --target x86_64-unknown-linux-musl

FROM debian:bookworm-slim
# What the builds of most projects ask for; add what yours needs.
RUN apt-get update \
 && apt-get install -y --no-install-recommends clang make cmake git ca-certificates libc6-dev \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory /src
COPY --from=build /drip/target/x86_64-unknown-linux-musl/release/drip /usr/local/bin/drip
ENV DRIP_CACHE_DIR=/var/cache/drip
WORKDIR /src
ENTRYPOINT ["drip"]
CMD ["check"]
