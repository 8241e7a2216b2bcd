# Uses zones and RRsets through python-powerdns, and prints what it sees. Its arguments are the API's URL and a new zone's
# name; the token's secret is in TOKEN. It ends with an error at the first unexpected result.
import os
import sys

import powerdns

url, name = sys.argv[1:]


def expect(what, got, wanted):
    assert got == wanted, f'{what}: {got}, not {wanted}'
    print(f'{what}: {got}')


def refused(what, status, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except powerdns.exceptions.PDNSError as error:
        expect(what, error.status_code, status)
        print(f'  {error.message}')
        return
    raise AssertionError(f'{what}: not refused')


def contents(zone, owner):
    return [[each['type'], *(record['content'] for record in each['records'])] for each in zone.get_record(owner)]


client = powerdns.PDNSApiClient(api_endpoint=url, api_key=os.environ['TOKEN'])
api = powerdns.PDNSEndpoint(client)
server = api.servers[0]
expect('server', [str(server), server.daemon_type], ['localhost', 'authoritative'])
expect('no such zone', server.get_zone(name), None)
rrsets = [powerdns.RRSet(f'www.{name}', 'A', ['192.0.2.1'], 3600)]
zone = server.create_zone(name=name, kind='Native', nameservers=[], rrsets=rrsets)
expect('zone created', str(zone), name)
refused('zone created twice', 409, server.create_zone, name=name, kind='Native', nameservers=[])
refused('zone of a kind that is not possible', 422, server.create_zone, name=f'of.{name}', kind='Slave', nameservers=[])
expect('zones', [str(each) for each in server.zones if str(each) == name], [name])
expect('zone suggested', str(server.suggest_zone(f'a.b.{name}')), name)
expect('RRset of the creation', contents(zone, f'www.{name}'), [['A', '192.0.2.1']])
comment = powerdns.interface.Comment('dropped')
zone.create_records([
    powerdns.RRSet('www', 'A', ['192.0.2.2', ('192.0.2.3', False)], 300, comments=[comment]),
    powerdns.RRSet('alias', 'CNAME', ['www'], 300),
    powerdns.RRSet(name, 'TXT', ['"one" "two"'], 300),
])
expect('RRset replaced', contents(zone, f'www.{name}'), [['A', '192.0.2.2', '192.0.2.3']])
expect('CNAME', contents(zone, f'alias.{name}'), [['CNAME', f'www.{name}']])
expect('types of the apex', sorted(each[0] for each in contents(zone, name)), ['NS', 'SOA', 'TXT'])
refused('disabled record', 422, zone.create_records, [powerdns.RRSet('off', 'A', [('192.0.2.1', True)], 300)])
refused('record that is none', 422, zone.create_records, [powerdns.RRSet('bad', 'A', ['192.0.2.256'], 300)])
zone.delete_records([powerdns.RRSet('www', 'A', [])])
expect('RRset deleted', contents(zone, f'www.{name}'), [])
expect('notify', bool(zone.notify()['result']), True)
found = server.search(name.rstrip('.'))
expect('zone found', [each['zone_id'] for each in found if each['object_type'] == 'zone'], [name])
zone.backup('.')
server.delete_zone(name)
expect('zone deleted', server.get_zone(name), None)
restored = server.restore_zone(f"{name.rstrip('.')}.json")
expect('CNAME of the backup', contents(restored, f'alias.{name}'), [['CNAME', f'www.{name}']])
server.delete_zone(name)
refused('zone deleted twice', 404, server.delete_zone, name)
client._api_key = 'wrong'
refused('wrong key', 401, client.get, '/servers')
