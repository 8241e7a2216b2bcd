import test from 'ava'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../src/installation/project.ts'
import { startPostgres } from '../src/private-servers/postgres.ts'
import { readConfig } from '../src/settings/config.ts'
import type { Setting } from '../src/settings/setting.ts'
import { SETTINGS } from '../src/settings/settings.ts'
import { query } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { composeProblems, interpolate, readCompose } from './support/compose.ts'
import { newFolder } from './support/servers/folders.ts'
import { openPatiently } from './support/servers/postgres/databases.ts'
import { privateSettings, settings } from './support/settings.ts'

const project = projectFolder()
const compose = readCompose()

test('docker-compose.yml is valid by the JSON schema of the compose specification', (t) => {
  // The package's schema is of 2021, and `name` is newer.
  const { name, ...rest } = compose as typeof compose & { name: string }
  t.is(name, 'zoneplane')
  t.is(composeProblems(rest), undefined)
  // What YAML makes of an unquoted `0: 1` in a list.
  t.truthy(composeProblems({ services: { api: { healthcheck: { test: ['CMD', { 'process.exit(0': '1)' }] } } } }))
})

test('docker-compose.yml passes every setting to the API except those of private servers, and no other variable', (t) => {
  const { environment } = compose.services.api
  const passed = new Set(Object.keys(environment))
  const wanted = settings()
  for (const name of privateSettings) wanted.delete(name)
  // Of a secret that the file itself does not set, a file can hold the value.
  for (const { name, isSecret } of Object.values<Setting<unknown>>(SETTINGS)) {
    if (isSecret && environment[name] === `\${${name}:-}`) wanted.add(`${name}_FILE`)
  }
  t.deepEqual([...passed].sort(), [...wanted].sort())
})

test('the composed environment is a valid configuration once the secrets are set', (t) => {
  const secrets = {
    POSTGRES_PASSWORD: 'a-password',
    PDNS_API_KEY: 'a-key',
    KEY_ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    NAMESERVERS: 'ns1.example.net,ns2.example.net',
  }
  const { environment } = compose.services.api
  const passed = Object.entries(environment).map(([name, value]) => [name, interpolate(value, secrets)] as const)
  const config = readConfig(Object.fromEntries(passed))
  t.is(config.databaseUrl, 'postgres://zoneplane:a-password@postgres:5432/zoneplane')
  t.deepEqual(config.nameServers, ['ns1.example.net.', 'ns2.example.net.'])
  // Without it there is no demo account.
  t.is(config.token, undefined)
  for (const missing of Object.keys(secrets)) {
    const others = { ...secrets, [missing]: '' }
    const all = Object.values(compose.services).flatMap((service) => Object.values(service.environment))
    t.throws(() => all.map((value) => interpolate(value, others)), { message: new RegExp(`^${missing}`) })
  }
})

test('every service has a health check, databases have named volumes, and the API waits for both', (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.true(service.healthcheck.test.length > 1, name)
    // Unquoted, a text with a colon and a blank is a mapping.
    for (const word of service.healthcheck.test) t.is(typeof word, 'string', name)
    const sources = service.volumes.map((volume) => volume.split(':')[0]!)
    t.true(sources[0]! in compose.volumes, name)
    for (const source of sources.slice(1)) t.true(existsSync(join(project, source)), source)
  }
  t.deepEqual(Object.values(compose.services.api.depends_on!), [
    { condition: 'service_healthy' },
    { condition: 'service_healthy' },
  ])
})

test('every container starts again by itself, and has no privileges but to write to its volumes and to memory', (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.like(
      service,
      {
        restart: 'unless-stopped',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        read_only: true,
        mem_limit: '1g',
      },
      name,
    )
    for (const more of ['cap_add', 'privileged', 'network_mode', 'pid']) t.false(more in service, `${name}: ${more}`)
  }
})

test('only DNS is published to other machines', (t) => {
  const published = Object.entries(compose.services).map(([name, { ports = [] }]) => {
    return [name, ports.map((port) => interpolate(port, {}))] as const
  })
  t.deepEqual(Object.fromEntries(published), {
    postgres: [],
    powerdns: ['53:5300/udp', '53:5300/tcp'],
    api: ['127.0.0.1:8080:8080'],
  })
})

test('the role of the composed service owns its database, is no superuser, and has the only password', async (t) => {
  const server = await startPostgres(newFolder(), { durable: false, progress: () => undefined })
  const url = (role: string, database: string) => {
    const other = new URL(server.url)
    other.username = role
    other.pathname = `/${database}`
    return other
  }
  const ask = async (role: string, database: string, sql: string) => {
    const db = openPatiently(url(role, database).href, 1)
    return query(db, sql).finally(() => db.end())
  }
  // As the image leaves it: a superuser `postgres` with a password, and a database `zoneplane` of the superuser's.
  await ask('zoneplane', 'postgres', `create role postgres superuser login password 'a-password'`)
  await ask('postgres', 'postgres', 'alter role zoneplane rename to bootstrap')
  execFileSync(join(project, 'postgres', 'create-role.sh'), {
    env: { PATH: process.env['PATH'], PGHOST: url('', '').searchParams.get('host')!, POSTGRES_PASSWORD: "pass'word" },
  })
  await migrate(url('zoneplane', 'zoneplane').href)
  const roles = `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolpassword like 'SCRAM-SHA-256$%' as password
    from pg_authid where rolname in ('postgres', 'zoneplane') order by rolname`
  t.deepEqual(await ask('postgres', 'postgres', roles), [
    { rolname: 'postgres', rolsuper: true, rolcreaterole: false, rolcreatedb: false, password: null },
    { rolname: 'zoneplane', rolsuper: false, rolcreaterole: false, rolcreatedb: false, password: true },
  ])
  await server.stop()
})

test('the health check of PowerDNS sends the API key, which is no argument of a program', (t) => {
  const [kind, command] = compose.services.powerdns.healthcheck.test
  t.is(kind, 'CMD-SHELL')
  // In place of curl, a program that shows its arguments and its input.
  const folder = newFolder()
  writeFileSync(join(folder, 'curl'), '#!/bin/sh\nprintf "%s\\n" "$*"\ncat\n', { mode: 0o755 })
  const env = { PATH: `${folder}:${process.env['PATH']}`, PDNS_API_KEY: 'a-secret' }
  const shown = execFileSync('/bin/sh', ['-c', interpolate(command!, {})], { env, encoding: 'utf8' })
  t.is(shown, '-fsS -o /dev/null -H @- http://127.0.0.1:8081/api/v1/servers/localhost\nX-API-Key: a-secret')
})

test('the files that the images copy exist and are not in .dockerignore', (t) => {
  for (const [folder, file] of [
    ['.', 'Dockerfile'],
    ['pdns', 'pdns/Dockerfile'],
  ] as const) {
    const steps = readFileSync(join(project, file), 'utf8')
    const copied = [...steps.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '))
    t.true(copied.length > 0)
    const ignored = existsSync(join(project, folder, '.dockerignore'))
      ? readFileSync(join(project, folder, '.dockerignore'), 'utf8').split('\n')
      : []
    for (const source of copied) {
      t.true(existsSync(join(project, folder, source)), source)
      if (ignored.includes('*')) t.true(ignored.includes(`!${source}`), source)
    }
  }
  // All that the product is built of, and all that is built.
  const [, product] = /^const product = .*folders: \[(.*)\]/m.exec(readFileSync(join(project, 'setup.mjs'), 'utf8'))!
  const steps = readFileSync(join(project, 'Dockerfile'), 'utf8')
  for (const [, folder] of product!.matchAll(/'(\w+)'/g)) t.regex(steps, new RegExp(`^COPY ${folder} ${folder}$`, 'm'))
  t.is(steps.match(/^COPY --from=build \/zoneplane\/build build$/gm)?.length, 2)
  for (const script of [
    'pdns/entrypoint.sh',
    'postgres/create-role.sh',
    'ci/prepare.sh',
    'ci/start.sh',
    'ci/ready.sh',
  ]) {
    t.true((statSync(join(project, script)).mode & 0o111) !== 0, script)
  }
})
