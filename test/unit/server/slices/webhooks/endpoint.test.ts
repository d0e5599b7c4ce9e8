import { describe, expect, it } from 'vitest'
import { createEndpointRules, requireUrl } from '../../../../../src/server/slices/webhooks/endpoint.ts'

const rules = createEndpointRules({ webhookAllowHosts: ['hooks.lan', '10.0.0.5:8080'], allowsLoopback: false })

describe('The address of a webhook', () => {
  it.each([
    'https://hooks.acme.example/ctl?key=1',
    'HTTPS://hooks.acme.example',
    'https://xn--r8jz45g.example/%E3%82%A2',
    'http://hooks.lan/x',
    'http://10.0.0.5:8080/',
  ])('may be %j', (text) => {
    expect(() => requireUrl(text, rules)).not.toThrow()
  })

  it.each([
    ['http://hooks.acme.example/', 'plain http to a host that is not allowed'],
    ['http://10.0.0.5/', 'another port than the allowed one'],
    ['http://localhost/', 'this machine, on a server that is not for development'],
    ['http://user@hooks.lan/', 'a user name'],
    ['https://hooks.acme.example/\u001b[2J', 'a control character'],
    ['https://hooks.acme.example/ア', 'text that is longer in bytes than in characters'],
  ])('may not be %j: %s', (text) => {
    expect(() => requireUrl(text, rules)).toThrow(expect.objectContaining({ code: 'invalid_webhook_url' }))
  })
})
