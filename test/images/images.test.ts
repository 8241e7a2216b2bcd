import test, { type ExecutionContext } from 'ava'
import { chmodSync, cpSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { findPorts, HOST } from '../../src/private-servers/ports.ts'
import { Client } from '../support/clients/client.ts'
import { eventually, eventuallyIs } from '../support/eventually.ts'
import { dig, isServed } from './answers.ts'
import { inNetwork, podman } from './podman.ts'
import { addressOf, clear, healthy, type Name, names, runOnce, start, stop } from './services.ts'

const environment: Record<string, string> = {
  POSTGRES_PASSWORD: 'the-password',
  PDNS_API_KEY: 'the-key',
  NAMESERVERS: 'ns1.example.net,ns2.example.net',
  KEY_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  // The tests write more than a user does.
  THROTTLE: 'off',
}

const withImages = process.env['TEST_IMAGES'] === 'on' ? test.serial : test.serial.skip

test.before(async () => {
  if (process.env['TEST_IMAGES'] !== 'on') return
  await clear()
  const { api, dns } = await findPorts({ api: 0, dns: 0 }, [HOST])
  Object.assign(environment, { PORT: String(api), DNS_PORT: String(dns) })
})

test.after.always(async () => {
  if (process.env['TEST_IMAGES'] === 'on') await clear()
})

/** A client with a token that may create domains; set by the test that makes it. */
let client: Client

/** Asks DNS at the port that docker-compose.yml publishes. */
function published(...args: string[]): Promise<string> {
  return dig(['@127.0.0.1', '-p', environment['DNS_PORT']!, ...args])
}

let octet = 0

async function reads(): Promise<number | undefined> {
  return client.get('/domains/').then(
    ({ status }) => status,
    () => undefined,
  )
}

/** Writes an address and checks that DNS has it. */
async function checkWrite(t: ExecutionContext): Promise<void> {
  const address = `192.0.2.${++octet}`
  const { status, text } = await client.put('/domains/example.com/rrsets/', [
    { subname: 'written', type: 'A', ttl: 3600, records: [address] },
  ])
  t.is(status, 200, text)
  const answer = await published('written.example.com', 'A')
  t.true(isServed(answer, 'written.example.com', address), answer)
}

/** Starts all services without data. `more`: options for the containers that we build. */
async function newServices(...more: string[]): Promise<void> {
  await clear()
  for (const name of names) {
    await start(name, environment, ...(name === 'postgres' ? [] : more))
    await healthy(name)
  }
}

withImages('the services of docker-compose.yml become healthy, one after the other', async (t) => {
  for (const name of names) {
    const begin = performance.now()
    await start(name, environment)
    await healthy(name)
    t.log(`${name}: healthy after ${Math.round(performance.now() - begin)} ms`)
  }
  t.pass()
})

withImages('the first account, domain and RRset are made as the documents say, and DNS has them signed', async (t) => {
  const zoneplane = (...args: string[]) => podman('exec', 'api', 'zoneplane', ...args)
  await zoneplane('account', 'create', 'you@example.net')
  const rights = ['--create-domain', '--delete-domain', '--manage-tokens']
  const made = await zoneplane('token', 'create', 'you@example.net', ...rights)
  client = new Client(`http://127.0.0.1:${environment['PORT']!}`, made.split(/\s/).at(-1))
  const domain = await client.post('/domains/', { name: 'example.com' })
  t.is(domain.status, 201, domain.text)
  const rrset = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
  const answer = await client.post('/domains/example.com/rrsets/', rrset)
  t.is(answer.status, 201, answer.text)
  for (const name of ['', 'swagger-ui-bundle.js', 'swagger-ui.css']) {
    t.is((await client.get(`//root/api/v1/docs/${name}`)).status, 200, name)
  }
  t.is((await fetch(`http://127.0.0.1:${environment['PORT']!}/console/`)).status, 200)
  for (const transport of ['+notcp', '+tcp']) {
    const outside = await published(transport, 'www.example.com', 'A')
    t.true(isServed(outside, 'www.example.com', '192.0.2.1'), outside)
    for (const family of ['IPAddress', 'GlobalIPv6Address'] as const) {
      const server = `@${await addressOf('powerdns', family)}`
      const inside = await dig([transport, server, '-p', '5300', 'www.example.com', 'A'], inNetwork('dig'))
      t.true(isServed(inside, 'www.example.com', '192.0.2.1'), inside)
    }
  }
})

withImages('a backup can be made in the container of the API', async (t) => {
  const made = await podman('exec', 'api', 'sh', '-c', 'zoneplane backup .zoneplane/b && rm .zoneplane/b')
  t.regex(made, /^\.zoneplane\/b: 1 domains, /)
})

withImages('each service restarts with its data', async (t) => {
  for (const name of names) {
    const begin = performance.now()
    await podman('restart', name)
    await healthy(name)
    t.log(`${name}: healthy again after ${Math.round(performance.now() - begin)} ms`)
    await checkWrite(t)
  }
})

withImages('SIGTERM ends each service, which need not be killed', async (t) => {
  const codes: Partial<Record<Name, number>> = {}
  for (const name of names.toReversed()) {
    const begin = performance.now()
    codes[name] = await stop(name)
    t.log(`${name}: stopped after ${Math.round(performance.now() - begin)} ms`)
  }
  // PowerDNS does not catch the signal.
  t.deepEqual(codes, { api: 0, powerdns: 143, postgres: 0 })
  for (const name of names) await podman('start', name)
  for (const name of names) await healthy(name)
  await checkWrite(t)
})

withImages('while PowerDNS is away the API starts and answers reads, and writes when it is back', async (t) => {
  await stop('powerdns')
  await podman('restart', 'api')
  await eventuallyIs(reads, 200)
  const create = async () => (await client.post('/domains/', { name: 'accepted.example' })).status
  t.is(await create(), 503)
  await podman('start', 'powerdns')
  await eventuallyIs(create, 201)
  await checkWrite(t)
})

withImages(
  'while Postgres is away the API is not ready and DNS answers, and it is ready again when it is back',
  async (t) => {
    await checkWrite(t)
    await stop('postgres')
    const { status } = await client.get('//root/readyz')
    t.is(status, 503)
    const answer = await published('written.example.com', 'A')
    t.true(isServed(answer, 'written.example.com', `192.0.2.${octet}`), answer)
    await podman('start', 'postgres')
    await healthy('postgres')
    await healthy('api')
    await checkWrite(t)
  },
)

withImages('a PowerDNS that is killed starts again by itself', async (t) => {
  const pids = 'for each in /proc/[0-9]*; do if grep -q pdns_server $each/comm; then kill -9 ${each#/proc/}; fi; done'
  // The shell ends with the container, perhaps before the loop does.
  await podman('exec', 'powerdns', 'sh', '-c', pids).catch(() => undefined)
  await eventuallyIs(() => podman('inspect', '--format={{.RestartCount}}', 'powerdns'), '1')
  await healthy('powerdns')
  await checkWrite(t)
})

withImages('no process is root, has a capability or can get one, and none can write to its image', async (t) => {
  for (const name of names) {
    const ran = await podman('exec', name, 'sh', '-c', 'cat /proc/[0-9]*/status')
    t.regex(ran, /^Uid:/m)
    t.notRegex(ran, /^Uid:\t0\t/m, name)
    t.notRegex(ran, /^Cap(Prm|Eff|Bnd):\t.*[1-9a-f]/m, name)
    t.notRegex(ran, /^NoNewPrivs:\t0/m, name)
    const folders = '/ /usr/local/bin /var/tmp /run /zoneplane /zoneplane/build /etc/zoneplane'
    const written = await podman(
      'exec',
      name,
      'sh',
      '-c',
      `for each in ${folders}; do touch $each/x && echo $each; done; :`,
    )
    t.is(written, '', name)
  }
})

withImages('PowerDNS and the API run as any user', async (t) => {
  await newServices('--user=12345')
  for (const name of ['powerdns', 'api'] as const) {
    t.regex(await podman('exec', name, 'cat', '/proc/1/status'), /^Uid:\t12345\t/m)
  }
  await podman('exec', 'api', 'zoneplane', 'account', 'create', 'you@example.net')
  // Where mails go.
  await podman('exec', 'api', 'touch', '/zoneplane/.zoneplane/written')
})

withImages('a database of an earlier version is brought up to date, and its zones are served', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'))
  chmodSync(folder, 0o755)
  const migrations = join(projectFolder(), 'build', 'migrations')
  const files = readdirSync(migrations)
    .filter((file) => file.endsWith('.js'))
    .sort()
  for (const file of files.slice(0, -1)) cpSync(join(migrations, file), join(folder, file))
  const earlier = `--volume=${folder}:/zoneplane/build/migrations:ro`

  await clear()
  await start('postgres', environment)
  await healthy('postgres')
  await start('powerdns', environment)
  await healthy('powerdns')
  await runOnce('api', environment, ['zoneplane', 'migrate'], [earlier])
  const psql = (sql: string) =>
    podman('exec', 'postgres', 'psql', '-qAt', '-U', 'postgres', '-d', 'zoneplane', '-c', sql)
  const applied = () => psql('select count(*) from knex_migrations')
  t.is(await applied(), String(files.length - 1))
  await psql(`with account as (insert into accounts (created, email, state, credentials_changed)
      values (now(), 'old@example.net', 'active', now()) returning id),
    domain as (insert into domains (name, owner_id, minimum_ttl, version, size, created, published, touched)
      select 'old.example', id, 60, 1700000000, 2, now(), now(), now() from account returning id)
    insert into rrsets (domain_id, subname, type, ttl, records, created, touched)
      select id, 'www', 'A', 3600, array['192.0.2.77'], now(), now() from domain
      union all select id, '', 'NS', 3600, array['ns1.example.net.'], now(), now() from domain`)
  await start('api', environment)
  await healthy('api')
  t.is(await applied(), String(files.length))
  t.regex(await podman('exec', 'api', 'zoneplane', 'account', 'list'), /old@example\.net/)
  await eventually(async () => isServed(await published('www.old.example', 'A'), 'www.old.example', '192.0.2.77'))
})
