import { describe, expect, it } from 'vitest'
import { redactBody, redactHeaders, redactText, secretArgument } from '../../../../src/cli/session/secrets.ts'
import { mintApiToken, mintJoinToken, mintNsk } from '../../../../src/shared/credential-formats.ts'

const ID = '019c1a10-0000-7000-8000-0000000f0001'
const API = mintApiToken('local', ID)
const JOIN = mintJoinToken('prod1', ID)
const NSK = mintNsk('local', ID)
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ'

describe('A secret', () => {
  it.each([
    ['an API token', ['login', API.token]],
    ['a join token', ['login', JOIN.token]],
    ['a node secret key', ['api', `--field=nsk=${NSK.nsk}`]],
    ['a JWT', ['api', JWT]],
    ['whatever a --token flag holds', ['login', '--token=hunter2']],
  ])('is found among the arguments: %s', (_, argv) => {
    expect(secretArgument(argv)).toBe(2)
  })

  it.each([[['tokens', 'revoke', API.prefix]], [['nodes', 'show', ID]], [['login', '--token-file', 'token']]])(
    'is not seen in %j',
    (argv) => {
      expect(secretArgument(argv)).toBeUndefined()
    },
  )

  it.each([API.token, JOIN.token, NSK.nsk, JWT])('leaves no trace in a text', (secret) => {
    expect(redactText(`before ${secret} after`)).toBe('before [redacted] after')
  })

  it('leaves headers by name and by form, keeping the scheme', () => {
    const headers = {
      authorization: `Bearer ${API.token}`,
      cookie: 'service_session=abc',
      'x-other': `t=${JOIN.token}`,
      accept: '*/*',
    }
    expect(redactHeaders(headers)).toEqual({
      authorization: 'Bearer [redacted]',
      cookie: '[redacted]',
      'x-other': 't=[redacted]',
      accept: '*/*',
    })
  })

  it('leaves bodies at any depth, by member name and by form', () => {
    const body = JSON.stringify({
      token: 'opaque',
      nested: [{ nsk: 'x', note: `see ${API.token}` }],
      name: 'ci',
      code: 'slug_conflict',
    })
    expect(JSON.parse(redactBody(body))).toEqual({
      token: '[redacted]',
      nested: [{ nsk: '[redacted]', note: 'see [redacted]' }],
      name: 'ci',
      code: 'slug_conflict',
    })
  })

  it('leaves bodies that are no JSON', () => {
    expect(redactBody(`grant=x&assertion=${JWT}`)).toBe('grant=x&assertion=[redacted]')
  })
})
