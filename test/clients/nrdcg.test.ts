import test from 'ava'
import { join } from 'node:path'
import { projectFolder } from '../../src/installation/project.ts'
import { newFolder } from '../support/servers/folders.ts'
import { GO_LIBRARIES } from '../support/servers/packages.ts'
import { usePlace } from './support/clients.ts'
import { run, succeeded } from './support/programs.ts'

const place = usePlace()

/** Go compiles its standard library, too, as there is no cache between runs. */
const BUILD_SECONDS = 400

test.serial('the Go library nrdcg/desec handles domains, RRsets and tokens', async (t) => {
  t.timeout(1000 * (BUILD_SECONDS + 60))
  const { service, servers } = place()
  const folder = newFolder()
  const program = join(folder, 'walk')
  const env = {
    GOPATH: GO_LIBRARIES,
    GOCACHE: join(folder, 'cache'),
    GO111MODULE: 'off',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  }
  const source = join(projectFolder(), 'test', 'clients', 'nrdcg', 'main.go')
  succeeded(t, await run('go', ['build', '-o', program, source], { env, folder, seconds: BUILD_SECONDS }))
  const arguments_ = [`${service.url}/api/v1/`, 'walk.test']
  const said = succeeded(t, await run(program, arguments_, { env: { TOKEN: servers.owner.secret } }))
  for (const line of said.trim().split('\n')) t.log(line)
})
