import { connect, type TLSSocket } from 'node:tls'
import { once } from 'node:events'

/** What came over a connection, and who showed a certificate. */
export interface Asked {
  readonly subject: string
  readonly issuer: string
  readonly text: string
}

export interface ByName {
  readonly host: string
  readonly port: number
  /** The server name; undefined: none is sent. */
  readonly name: string | undefined
}

/** Opens a TLS connection by a server name. The certificate may be any. @throws the error of the socket where it is closed. */
export async function openByName({ host, port, name }: ByName): Promise<TLSSocket> {
  const socket = connect({ host, port, rejectUnauthorized: false, ...(name !== undefined && { servername: name }) })
  socket.setTimeout(20_000, () => socket.destroy(new Error('nothing came within 20 s')))
  await once(socket, 'secureConnect')
  return socket
}

/** Sends a request of HTTP by a server name and reads the answer to its end. */
export async function askByName(where: ByName): Promise<Asked> {
  const socket = await openByName(where)
  const { subject, issuer } = socket.getPeerCertificate()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.write(`GET /path HTTP/1.1\r\nHost: ${where.name ?? 'none'}\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  return { subject: nameOf(subject), issuer: nameOf(issuer), text }
}

function nameOf(name: { readonly CN?: string | string[] } | undefined): string {
  return String(name?.CN ?? '')
}
