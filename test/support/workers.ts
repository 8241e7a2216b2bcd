import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { TestProcess, TestServers } from './harness.ts'
import type { MailServer } from './servers/mail-server.ts'
import { freePort, ownNetwork } from './servers/ports.ts'
import { type PostgresProxy, startPostgresProxy } from './servers/postgres/postgres-proxy.ts'

/** A process of the service behind a proxy of Postgres of its own. */
export interface Worker {
  service: TestProcess
  postgres: PostgresProxy
  /** Where it takes DNS UPDATE, also after a restart. */
  updates: { host: string; port: number }
  /** Kills the process and starts another one. Restarts that several faults ask for follow one another: they share a port. */
  restart(): Promise<void>
}

/** A process that takes sign-ups, too, at an address of its own. @param mails where its mails go */
export async function startOpenWorker(
  servers: Pick<TestServers, 'backends' | 'start'>,
  mails: MailServer,
  environment: Record<string, string>,
): Promise<Worker> {
  const host = `${ownNetwork()}1`
  return startWorker(servers, {
    ...{ HOST: host, PORT: '8080', PUBLIC_URL: `http://${host}:8080` },
    ...{ MAIL_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: 'dns@example.net', REGISTRATION: 'open' },
    ...environment,
  })
}

/** @param environment its DATABASE_URL is where the proxy leads */
export async function startWorker(
  servers: Pick<TestServers, 'backends' | 'start'>,
  environment: Record<string, string> = {},
): Promise<Worker> {
  const postgres = await startPostgresProxy(environment['DATABASE_URL'] ?? servers.backends.databaseUrl)
  // PowerDNS stalls with more than ten connections in total.
  const updates = { host: `${ownNetwork()}1`, port: await freePort() }
  const settings = {
    DNS_UPDATE_HOST: updates.host,
    DNS_UPDATE_PORT: String(updates.port),
    PDNS_CONNECTIONS: '4',
    LOG_LEVEL: 'error',
    ...environment,
    DATABASE_URL: postgres.url,
  }
  const start = () => servers.start(settings)
  const oneAtATime = pLimit(1)
  const worker: Worker = {
    service: await start(),
    postgres,
    updates,
    restart: () =>
      oneAtATime(async () => {
        await worker.service.kill()
        // A start fails while another fault keeps the backends away.
        for (let left = 20; ; left--) {
          try {
            worker.service = await start()
            return
          } catch (error) {
            if (left === 1) throw error
            await sleep(200)
          }
        }
      }),
  }
  return worker
}
