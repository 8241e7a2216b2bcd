# The API. What it needs, it is told by the environment; see docker-compose.yml and the README's configuration table.
FROM node:20-bookworm-slim AS build
WORKDIR /zoneplane
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.product.json ./
COPY src src
COPY dev dev
COPY migrations migrations
COPY seeds seeds
RUN npx tsc --project tsconfig.product.json && npm prune --omit=dev

FROM node:20-bookworm-slim
WORKDIR /zoneplane
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /zoneplane/package.json ./
COPY --from=build /zoneplane/node_modules node_modules
COPY --from=build /zoneplane/build build
RUN ln -s /zoneplane/build/src/cli.js /usr/local/bin/zoneplane && chmod +x build/src/cli.js
# Where mails are written as long as there is no MAIL_URL.
RUN mkdir .zoneplane && chown node .zoneplane
USER node
EXPOSE 8080
CMD ["node", "--enable-source-maps", "build/src/cli.js", "start"]
