import { OAuth2Server } from 'oauth2-mock-server'

/** Members of an ID token, and of its header, that a test wants to be others. */
export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>
  /** Claims to leave out. */
  readonly without?: readonly string[]
  readonly header?: Readonly<Record<string, unknown>>
  /** Makes the whole token, from the one that the issuer would have sent. */
  readonly token?: (idToken: string) => string | Promise<string>
  /** What userinfo says. */
  readonly userinfo?: Readonly<Record<string, unknown>>
  /** Changes the answer of the token endpoint. */
  readonly response?: (answer: { body: unknown; statusCode: number }) => void
}

/** An issuer from another hand, which says what a test tells it to. */
export interface TestIssuer {
  readonly url: string
  readonly server: OAuth2Server
  /** What the next tokens say. */
  forgery: Forgery
  /** Members of its metadata that are to be others. */
  metadata: Readonly<Record<string, unknown>>
  /** Whether it answers nothing. */
  isDown: boolean
  /** The token requests that it answered, oldest first. */
  readonly tokenRequests: TokenRequest[]
  stop(): Promise<void>
}

interface TokenRequest {
  readonly body: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | undefined>>
}

interface IssuerAnswer {
  body: unknown
  statusCode: number
}

export async function startTestIssuer(): Promise<TestIssuer> {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const issuer: TestIssuer = {
    url: String(server.issuer.url),
    server,
    forgery: {},
    metadata: {},
    isDown: false,
    tokenRequests: [],
    stop: () => server.stop(),
  }
  server.service.on('beforeTokenSigning', (token: { header: object; payload: Record<string, unknown> }) => {
    // The access token, which has no audience, stays as it is.
    if (token.payload['aud'] === undefined) return
    Object.assign(token.header, issuer.forgery.header)
    Object.assign(token.payload, issuer.forgery.claims)
    for (const name of issuer.forgery.without ?? []) delete token.payload[name]
  })
  server.service.on('beforeUserinfo', (answer: IssuerAnswer) => {
    answer.body = { sub: issuer.forgery.claims?.['sub'] ?? 'johndoe', ...issuer.forgery.userinfo }
  })
  server.service.on('beforeResponse', (answer: IssuerAnswer, { body, headers }: TokenRequest) => {
    issuer.tokenRequests.push({ body, headers })
    issuer.forgery.response?.(answer)
  })
  return issuer
}
