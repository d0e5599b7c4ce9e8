import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** A stand-in for the API of a forge: comments of one pull request, and the tokens that jobs sign in with. */
interface Forge {
  readonly url: string
  /** Bodies of the comments, in their order. */
  readonly comments: string[]
  close(): void
}

/** Starts it on a free port of loopback. `token` is what a job is issued for the audience. */
export async function startForge({
  token,
  audience,
}: {
  readonly token: string
  readonly audience: string
}): Promise<Forge> {
  const comments: string[] = []
  const routes: Readonly<Record<string, (match: RegExpExecArray, body: string) => unknown>> = {
    'GET /token\\?(.*)': ([, query]) => {
      if (new URLSearchParams(query).get('audience') !== audience) throw new Error('another audience')
      return { value: token }
    },
    'GET /repos/acme/web/issues/7/comments\\?per_page=100&page=(\\d+)': ([, page]) =>
      page === '1' ? comments.map((body, at) => ({ id: at + 1, body, user: { type: 'Bot' } })) : [],
    'POST /repos/acme/web/issues/7/comments': (_match, body) => comments.push(bodyOf(body)),
    'PATCH /repos/acme/web/issues/comments/(\\d+)': ([, id], body) => (comments[Number(id) - 1] = bodyOf(body)),
  }
  const server = createServer((asked, answer) => {
    void text(asked).then((body) => {
      const line = `${asked.method ?? ''} ${asked.url ?? ''}`
      const found = Object.entries(routes).find(([route]) => new RegExp(`^${route}$`).test(line))
      const match = found && new RegExp(`^${found[0]}$`).exec(line)
      if (!found || !match) return answer.writeHead(404).end()
      return answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found[1](match, body)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the forge has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    comments,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function bodyOf(request: string): string {
  const { body } = JSON.parse(request) as { readonly body: string } // What the recipe sends, and nothing else.
  return body
}
