import test from 'ava'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../src/config.ts'
import { projectFolder } from '../dev/project.ts'

interface Service {
  image?: string
  build?: string
  environment: Record<string, string | number>
  volumes?: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
}

const project = projectFolder()
const compose = parse(readFileSync(join(project, 'docker-compose.yml'), 'utf8')) as {
  services: Record<'postgres' | 'powerdns' | 'api', Service>
  volumes: Record<string, unknown>
}

/** The names of all settings, which are the variables that `readConfig` reads. */
function settings(): Set<string> {
  const names = new Set<string>()
  const environment = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get(_, name) {
        names.add(String(name))
        return undefined
      },
    },
  )
  readConfig(environment)
  return names
}

/** A value as `docker compose` interpolates it in this environment; throws where `:?` finds no value. */
function interpolate(value: string | number, environment: Record<string, string>): string {
  return String(value).replace(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    const set = environment[name]
    if (set !== undefined && set !== '') return set
    if (kind === '?') throw new Error(`${name}: ${rest}`)
    return rest
  })
}

test('docker-compose.yml passes every setting to the API except those of private servers, and no other variable', (t) => {
  const passed = new Set(Object.keys(compose.services.api.environment))
  const wanted = settings()
  for (const name of ['DNS_PORT', 'ZONEPLANE_DATA']) wanted.delete(name)
  t.deepEqual([...passed].sort(), [...wanted].sort())
})

test('every setting is in the README', (t) => {
  const readme = readFileSync(join(project, 'README.md'), 'utf8')
  for (const name of settings()) t.regex(readme, new RegExp(`^\\|.*\`${name}\``, 'm'), name)
})

test('the composed environment is a valid configuration once the secrets are set', (t) => {
  const secrets = {
    POSTGRES_PASSWORD: 'a-password',
    PDNS_API_KEY: 'a-key',
    ZONEPLANE_TOKEN: 'a-token-secret',
    NAMESERVERS: 'ns1.example.net,ns2.example.net',
  }
  const { environment } = compose.services.api
  const passed = Object.entries(environment).map(([name, value]) => [name, interpolate(value, secrets)] as const)
  const config = readConfig(Object.fromEntries(passed))
  t.is(config.databaseUrl, 'postgres://zoneplane:a-password@postgres:5432/zoneplane')
  t.deepEqual(config.nameServers, ['ns1.example.net.', 'ns2.example.net.'])
  for (const missing of Object.keys(secrets)) {
    const others = { ...secrets, [missing]: '' }
    const all = Object.values(compose.services).flatMap((service) => Object.values(service.environment))
    t.throws(() => all.map((value) => interpolate(value, others)), { message: new RegExp(`^${missing}`) })
  }
})

test('every service has a health check, databases have named volumes, and the API waits for both', (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.true((service.healthcheck?.test.length ?? 0) > 1, name)
    for (const volume of service.volumes ?? []) t.true(volume.split(':')[0]! in compose.volumes, volume)
  }
  t.true((compose.services.postgres.volumes?.length ?? 0) > 0)
  t.true((compose.services.powerdns.volumes?.length ?? 0) > 0)
  t.deepEqual(Object.values(compose.services.api.depends_on!), [
    { condition: 'service_healthy' },
    { condition: 'service_healthy' },
  ])
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
  t.true((statSync(join(project, 'pdns/entrypoint.sh')).mode & 0o111) !== 0)
})
