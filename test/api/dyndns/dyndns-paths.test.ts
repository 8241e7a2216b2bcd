import test from 'ava'
import { addresses, basic, told } from '../../support/clients/dyndns.ts'
import { exchange } from '../../support/clients/raw.ts'
import { useService, useZone } from '../../support/harness.ts'

// Contract §10.1: the paths for updates, and the form of the answers. One test after the other, because the updates of a
// domain wait for each other.

const service = useService({
  THROTTLE: 'off',
  UPDATE_HOSTS: 'update.dyn.test, update6.dyn.test',
  CHECK_IP_HOSTS: 'checkip.dyn.test',
  TRUSTED_PROXIES: '127.0.0.9',
})
const zone = useZone(service)

let names = 0
/** A new subname without addresses, and the query that gives it one. */
function fresh(): { subname: string; query: string } {
  const subname = `n${++names}`
  return { subname, query: `?hostname=${subname}.${zone().domain}&myip=192.0.2.${names}` }
}

for (const path of ['/api/v1/dyndns/update', '/nic/update', '/update']) {
  for (const slash of ['', '/']) {
    test.serial(`${path}${slash} accepts updates`, async (t) => {
      const { subname, query } = fresh()
      const answer = await zone().api.get(`//root${path}${slash}${query}`)
      t.deepEqual(told(answer), [200, 'good'])
      t.is(answer.headers['content-type'], 'text/plain')
      t.is(answer.headers['content-length'], '4')
      t.is(answer.headers['cache-control'], 'no-cache')
      t.is(answer.headers['allow'], 'GET, OPTIONS')
      t.is(answer.headers['vary'], 'origin')
      t.regex(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/)
      t.regex(await addresses(zone().api, zone().domain, subname), /^192\.0\.2\.\d+ $/)
    })
  }

  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    test.serial(`${method} of ${path} is refused, and has no effect`, async (t) => {
      const { subname, query } = fresh()
      const answer = await zone().api.send(method, `//root${path}${query}`)
      t.deepEqual(told(answer), [405, method === 'HEAD' ? '' : `Method "${method}" not allowed.`])
      t.is(answer.headers['content-type'], 'text/plain')
      t.is(answer.headers['allow'], 'GET, OPTIONS')
      t.is(await addresses(zone().api, zone().domain, subname), ' ')
    })
  }

  test.serial(`OPTIONS of ${path} requires no token`, async (t) => {
    const answer = await service().anonymous.send('OPTIONS', `//root${path}`)
    t.deepEqual(told(answer), [200, ''])
    t.is(answer.headers['allow'], 'GET, OPTIONS')
  })

  test.serial(`a wrong method of ${path} without a token is 401`, async (t) => {
    const answer = await service().anonymous.post(`//root${path}`)
    t.deepEqual(told(answer), [401, 'No username URL parameter provided.'])
    t.is(answer.headers['www-authenticate'], 'Token')
    t.is(answer.headers['content-type'], 'text/plain')
  })
}

/** Sends a request for a host name, over its own connection. */
async function at(host: string, target: string, headers: string[] = [], method = 'GET') {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', '']
  const { status, headers: got, body } = await exchange(service().url, lines.join('\r\n'))
  return { status, body, type: got['content-type'], allow: got['allow'] }
}
const auth = () => `Authorization: Token ${zone().account.secret}`
const text = (status: number, body: string) => ({ status, body, type: 'text/plain', allow: 'GET, OPTIONS' })

for (const path of ['/', '/nic/update', '/anything/at.all', '/api/v1/domains/', '/healthz', '/%', '/a%2Fb', '//']) {
  test.serial(`every path of an update host name accepts updates: ${path}`, async (t) => {
    const { subname, query } = fresh()
    t.deepEqual(await at('update.dyn.test', path + query, [auth()]), text(200, 'good'))
    t.regex(await addresses(zone().api, zone().domain, subname), /^192\.0\.2\.\d+ $/)
  })
}

for (const host of ['update6.dyn.test', 'UPDATE.dyn.test', 'update.dyn.test:8080', 'update.dyn.test.']) {
  test.serial(`update host names are recognised in any spelling: ${host}`, async (t) => {
    t.deepEqual(await at(host, `/x${fresh().query}`, [auth()]), text(200, 'good'))
  })
}

for (const path of ['/favicon.ico', '/nic/update.ico', '/apple-touch-icon.png', '/update/.png']) {
  test.serial(`the files that browsers request on their own are 404 on update host names: ${path}`, async (t) => {
    const { subname, query } = fresh()
    const { allow, ...answer } = await at('update.dyn.test', path + query, [auth()])
    t.deepEqual(answer, { status: 404, body: 'Not found.', type: 'text/plain' })
    t.is(allow, undefined)
    t.is(await addresses(zone().api, zone().domain, subname), ' ')
  })
}

test.serial('the REST API is not served on update host names', async (t) => {
  t.deepEqual(await at('update.dyn.test', '/api/v1/domains/'), text(401, 'No username URL parameter provided.'))
  t.deepEqual(
    await at('update.dyn.test', '/api/v1/domains/', [auth()], 'DELETE'),
    text(405, 'Method "DELETE" not allowed.'),
  )
})

test.serial('other host names serve the REST API', async (t) => {
  for (const host of ['dyn.test', 'x.update.dyn.test', 'update.dyn.test.evil.test', 'update']) {
    const { status, type } = await at(host, '/anything')
    t.deepEqual([status, type], [404, 'application/json'])
  }
})

test.serial('a forwarded host name counts only from a trusted proxy', async (t) => {
  const { status } = await at('api.test', `/x${fresh().query}`, [auth(), 'X-Forwarded-Host: update.dyn.test'])
  t.is(status, 404)
})

for (const slash of ['', '/']) {
  test.serial(`/nic/checkip.html${slash} returns the caller's address without a token`, async (t) => {
    const answer = await service().anonymous.get(`//root/nic/checkip.html${slash}`)
    t.deepEqual(told(answer), [200, '127.0.0.1'])
    t.is(answer.headers['content-type'], 'text/plain')
    t.is(answer.headers['allow'], 'GET, OPTIONS')
  })
}

for (const path of ['/', '/nic/checkip.html', '/favicon.ico', '/api/v1/domains/', '/%zz']) {
  test.serial(`every path of a check-IP host name returns the caller's address: ${path}`, async (t) => {
    t.deepEqual(await at('checkip.dyn.test', path), text(200, '127.0.0.1'))
  })
}

for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
  test.serial(`${method} is refused where GET returns the address`, async (t) => {
    const body = method === 'HEAD' ? '' : `Method "${method}" not allowed.`
    t.deepEqual(await at('checkip.dyn.test', '/', [], method), text(405, body))
    t.deepEqual(await at('api.test', '/nic/checkip.html', [], method), text(405, body))
  })
}

test.serial('a client of HTTP/1.0 that sends no header is told its address', async (t) => {
  const bare = await exchange(service().url, 'GET /nic/checkip.html HTTP/1.0\r\n\r\n')
  t.deepEqual([bare.status, bare.body], [200, '127.0.0.1'])
})

test.serial('scripts of any origin may send updates', async (t) => {
  const { query } = fresh()
  const answer = await zone().api.get(`//root/update${query}`, { headers: { origin: 'https://a.test' } })
  t.deepEqual(told(answer), [200, 'good'])
  t.is(answer.headers['access-control-allow-origin'], '*')
})

test.serial('the log contains neither secrets nor host names', async (t) => {
  const { query } = fresh()
  await service().anonymous.get(`//root/update${query}&username=${zone().domain}&password=${zone().account.secret}`)
  await service().anonymous.get(`//root/update${query}`, { headers: basic(zone().domain, zone().account.secret) })
  t.false(service().logged().includes(zone().account.secret))
  t.false(
    service()
      .logged()
      .includes(Buffer.from(`${zone().domain}:${zone().account.secret}`).toString('base64')),
  )
  t.true(service().logged().includes('"route":"/update"'))
})

test.serial('a wrong method is 405 before the hosts are looked at', async (t) => {
  for (const query of ['?hostname=foreign.test', `?hostname=${zone().domain},a.foreign.test`]) {
    const answer = await zone().api.post(`//root/update${query}`)
    t.deepEqual(told(answer), [405, 'Method "POST" not allowed.'])
  }
})
