# The API, and the image `ci` for tests. What the API needs, it is told by the environment; see docker-compose.yml and
# docs/configuration.md.
FROM node:26-trixie-slim AS build
WORKDIR /zoneplane
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY setup.mjs tsconfig.json tsconfig.product.json ./
COPY src src
COPY migrations migrations
COPY seeds seeds
COPY console console
RUN node setup.mjs product \
  && npm prune --omit=dev \
  # What only compilers and people read.
  && rm -r node_modules/@types \
  && find node_modules -type f \( -name '*.d.[cm]ts' -o -name '*.d.ts' -o -name '*.map' -o -iname 'readme*' -o -iname 'changelog*' \) -delete

# Everything in one container, for tests: docs/ci.md. docker build --target ci
FROM node:26-trixie-slim AS ci
RUN mkdir /etc/postgresql-common \
  && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
  && apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    postgresql-17 pdns-server pdns-backend-lmdb tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /zoneplane
# Less memory for new objects: it is collected more often, and the start takes as long.
ENV NODE_OPTIONS=--max-semi-space-size=2
ENV NODE_ENV=production NODE_COMPILE_CACHE=/zoneplane/compiled ZONEPLANE_DATA=/data ZONEPLANE_INSTALL=no \
  HOST=0.0.0.0 PORT=8080 DNS_HOST=0.0.0.0 DNS_PORT=5300
COPY --from=build /zoneplane/package.json ./
COPY --from=build /zoneplane/node_modules node_modules
COPY --from=build /zoneplane/build build
COPY pdns/pdns.conf pdns/pdns.conf
COPY ci ci
# Any user may run it, and write to its data.
RUN ln -s /zoneplane/build/src/cli.js /usr/local/bin/zoneplane && chmod +x build/src/cli.js \
  && install -d -o node prepared compiled && install -d -m 1777 /data
USER node
RUN ci/prepare.sh
VOLUME /data
EXPOSE 8080 5300/udp 5300/tcp
# Without --start-interval, which podman of Debian 12 and older Docker do not know.
HEALTHCHECK --interval=1s --timeout=3s --start-period=60s CMD ["/zoneplane/ci/ready.sh"]
ENTRYPOINT ["tini", "--", "/zoneplane/ci/start.sh"]

FROM node:26-trixie-slim
# pg_dump and pg_restore, for `zoneplane backup` and `restore`, of the version of docker-compose.yml's Postgres: 5 MB.
# Their package would bring perl, and take 67 MB.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libpq5 liblz4-1 \
  && cd /tmp \
  && apt-get download postgresql-client-17 \
  && dpkg-deb --extract postgresql-client-17_*.deb client \
  && install -D --target-directory=/usr/lib/postgresql/17/bin client/usr/lib/postgresql/17/bin/pg_dump \
    client/usr/lib/postgresql/17/bin/pg_restore \
  && rm -r client postgresql-client-17_*.deb /var/lib/apt/lists/*
WORKDIR /zoneplane
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /zoneplane/package.json ./
COPY --from=build /zoneplane/node_modules node_modules
COPY --from=build /zoneplane/build build
RUN ln -s /zoneplane/build/src/cli.js /usr/local/bin/zoneplane && chmod +x build/src/cli.js
# Where mails are written as long as there is no MAIL_URL. Users without a name are in the group root.
RUN install -d -o node -g root -m 770 .zoneplane
USER node
EXPOSE 8080
CMD ["node", "--enable-source-maps", "build/src/cli.js", "start"]
