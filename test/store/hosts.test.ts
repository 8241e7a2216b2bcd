import test from 'ava'
import { hostsOf } from '../../src/store/connections/hosts.ts'

for (const [url, hosts] of [
  ['postgres://u:p@db/z', [['db', '5432', 'postgres://u:p@db/z']]],
  ['postgres://u@db:6432/z?sslmode=disable', [['db', '6432', 'postgres://u@db:6432/z?sslmode=disable']]],
  [
    'postgres://u:p%40@h1:5432,h2:5433/z?target_session_attrs=read-write',
    [
      ['h1', '5432', 'postgres://u:p%40@h1:5432/z?target_session_attrs=read-write'],
      ['h2', '5433', 'postgres://u:p%40@h2:5433/z?target_session_attrs=read-write'],
    ],
  ],
  [
    'postgresql://10.0.0.1,[2001:db8::1]:5433/z',
    [
      ['10.0.0.1', '5432', 'postgresql://10.0.0.1/z'],
      ['2001:db8::1', '5433', 'postgresql://[2001:db8::1]:5433/z'],
    ],
  ],
  [
    'postgres://u@localhost/z?host=/run/postgresql',
    [['/run/postgresql', '5432', 'postgres://u@localhost/z?host=%2Frun%2Fpostgresql']],
  ],
  [
    'postgres://u@localhost/z?host=h1,h2&port=5433',
    [
      ['h1', '5433', 'postgres://u@localhost/z?host=h1&port=5433'],
      ['h2', '5433', 'postgres://u@localhost/z?host=h2&port=5433'],
    ],
  ],
  [
    'postgres://u@localhost/z?host=h1,h2&port=5433,5434',
    [
      ['h1', '5433', 'postgres://u@localhost/z?host=h1&port=5433'],
      ['h2', '5434', 'postgres://u@localhost/z?host=h2&port=5434'],
    ],
  ],
] as const) {
  test(`the servers of ${url}`, (t) => {
    t.deepEqual(
      hostsOf(url).map(({ host, port, url }) => [host, port, url]),
      hosts.map((each) => [...each]),
    )
  })
}
