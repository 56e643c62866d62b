# SPDX-License-Identifier: Apache-2.0
# firetowerd, firetower-hub and firetower from source, in an image that holds them, Debian's libraries that they load and
# what tells whose these are: no shell, no package manager.
#
#   docker build --build-arg SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" -t firetower:0.1.0 .
#   buildah build --timestamp "$(git log -1 --format=%ct)" -t firetower:0.1.0 .
#
# BASE is any Debian 12, such as one that mmdebstrap made where no registry is reached. With the same base and packages
# the same sources give the same bytes.
ARG BASE=docker.io/library/debian:bookworm-slim
FROM ${BASE} AS build
WORKDIR /src
COPY . .
# A folder of the context whose bin/ has the programs already: they are packed, and nothing is compiled.
ARG PREBUILT=""
RUN command -v python3 >/dev/null && command -v strip >/dev/null || \
    { apt-get update && apt-get install -y --no-install-recommends binutils ca-certificates python3; }
RUN [ -n "$PREBUILT" ] || { hack/bootstrap && cmake --preset release && \
    cmake --build build/release --target firetowerd firetower-hub firetower -j "$(nproc)"; }
ARG SOURCE_DATE_EPOCH=0
RUN SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH hack/image --build "${PREBUILT:-build/release}" --rootfs /rootfs

FROM scratch
COPY --from=build /rootfs/ /
LABEL org.opencontainers.image.title=firetower org.opencontainers.image.licenses=Apache-2.0
ENV PATH=/usr/bin
WORKDIR /
# The hub and the command need no rights; the agents' DaemonSet says user 0, and which capabilities.
USER 65532:65532
ENTRYPOINT ["/usr/bin/firetowerd"]
