import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, rootCertificates } from 'node:tls'
import { trustedBy, type HttpRequest, type Trust } from '../../../client/transport.ts'

/** Opens connections to one server and writes requests as HTTP/1.1. */
export interface Wire {
  readonly url: string
  /** Opens a connection. Bytes that are written before it is open are sent then. */
  connect(): Socket
  /** The bytes of a request. @throws TypeError for a body of bytes. */
  textOf(request: Pick<HttpRequest, 'method' | 'path' | 'headers' | 'body'>): string
}

export interface WireOptions {
  /** `http://…`, `https://…` or `unix:/path`; a path in front of `/v1` is kept. */
  readonly url: string
  readonly trust: Trust
  /** Returns the local address of the next connection; undefined: the system chooses. */
  readonly nextAddress?: () => string | undefined
}

const UNIX = 'unix:'

/** Makes a wire. Connects to nothing yet. */
export function createWire({ url, trust, nextAddress = () => undefined }: WireOptions): Wire {
  const { host, prefix, open } = url.startsWith(UNIX)
    ? { host: 'localhost', prefix: '', open: () => connect({ path: url.slice(UNIX.length) }) }
    : targetOf(new URL(url), trust, nextAddress)
  return {
    url,
    connect: open,
    textOf({ method, path, headers, body }) {
      if (body !== undefined && typeof body !== 'string') throw new TypeError('a light agent sends texts only')
      let text = `${method} ${prefix}${path} HTTP/1.1\r\nhost: ${host}\r\n`
      for (const name of Object.keys(headers)) text += `${name}: ${headers[name]}\r\n`
      if (body === undefined) return `${text}\r\n`
      return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    },
  }
}

function targetOf(
  { protocol, hostname, port, host, pathname }: URL,
  trust: Trust,
  nextAddress: () => string | undefined,
) {
  const isTls = protocol === 'https:'
  const server = hostname.replace(/^\[|\]$/g, '')
  const target = { host: server, port: Number(port === '' ? (isTls ? 443 : 80) : port), noDelay: true }
  const certificates = isTls ? trustedBy(trust, rootCertificates) : {}
  // An address is no server name (RFC 6066 section 3): the certificate is then checked against the host.
  const servername = isIP(server) === 0 ? server : ''
  function open(): Socket {
    const localAddress = nextAddress()
    const from = localAddress === undefined ? target : { ...target, localAddress }
    return isTls ? connectTls({ ...from, ...certificates, servername }) : connect(from)
  }
  return { host, prefix: pathname === '/' ? '' : pathname.replace(/(?<!\/)\/+$/, ''), open }
}
