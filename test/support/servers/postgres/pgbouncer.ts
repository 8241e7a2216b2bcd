import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unprivilegedAccount } from '../../../../src/private-servers/account.ts'
import { startDaemon } from '../../../../src/private-servers/daemon.ts'
import { openInstanceFolder, removeInstanceFolder } from '../../../../src/private-servers/instance-folder.ts'
import { newFolder } from '../folders.ts'
import { freePort } from '../ports.ts'
import { installed } from '../programs.ts'
import type { Database } from './databases.ts'

/** A PgBouncer before the database at `url`, whose server listens on a socket in a folder. */
export async function startPgbouncer(url: string, mode: 'session' | 'transaction' | 'statement'): Promise<Database> {
  const { pathname, username, searchParams } = new URL(url)
  const folder = newFolder()
  openInstanceFolder(folder)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users')
  writeFileSync(users, `"${username}" ""\n`)
  writeFileSync(
    file,
    `[databases]
* = host=${searchParams.get('host')} port=${searchParams.get('port')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = 60
`,
  )
  const daemon = startDaemon(installed('pgbouncer'), [file], {
    // Postgres' socket is for its user.
    account: unprivilegedAccount('postgres'),
    deathSignal: 'SIGKILL',
    folder,
    ending: [['SIGKILL', 5000]],
  })
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}?sslmode=disable`,
    async drop() {
      await daemon.stop()
      await removeInstanceFolder(folder)
    },
  }
}
