import { needs } from '../../support/needs.ts'
import { test } from '../../support/serial.ts'
import { usePlace } from '../support/clients.ts'
import { lackOfGo } from '../support/go.ts'
import { getsCertificate } from '../support/lego.ts'
import { buildLego } from '../support/modules.ts'

const place = usePlace()

needs(lackOfGo(), test)("lego 5 gets a certificate by PowerDNS' API", async (t) => {
  await getsCertificate(t, place(), 'lego5.test', "lego with PowerDNS' API", 0, await buildLego(t, 'pdns'))
})
