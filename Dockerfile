# An image that has the program alone; docs/install.md shows its use.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /src
COPY . .
# `--build-context build=FOLDER` puts FOLDER/amd64/commonbook in the place of this stage.
ARG TARGETARCH=amd64
RUN cargo build --release --locked && install -D target/release/commonbook "/$TARGETARCH/commonbook"

FROM scratch
ARG TARGETARCH=amd64
COPY --from=build /$TARGETARCH/commonbook /commonbook
# This user owns the folder of temporary files and the home: WORKDIR makes both.
USER 65532:65532
WORKDIR /tmp
WORKDIR /data
ENV COMMONBOOK_HOME=/data
VOLUME /data
EXPOSE 7077
ENTRYPOINT ["/commonbook"]
CMD ["serve", "--bind", "0.0.0.0:7077"]
