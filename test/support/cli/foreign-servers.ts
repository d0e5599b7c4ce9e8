import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A server that is not one of ctl. */
export interface ForeignServer {
  readonly url: string
  close(): Promise<void>
}

const PAGE = '<!doctype html><title>Welcome</title><p>It works!'

function answering(status: number, media: string, body: string): RequestListener {
  return (request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': media, ...(status === 302 && { location: '/login' }) }).end(body)
  }
}

const JSON_MEDIA = 'application/json'

/** By what they do. */
const HTTP_SERVERS: Readonly<Record<string, RequestListener>> = {
  'HTML with 200': answering(200, 'text/html; charset=utf-8', PAGE),
  'an empty object': answering(200, JSON_MEDIA, '{}'),
  'an empty list': answering(200, JSON_MEDIA, '[]'),
  'a list of something else': answering(200, JSON_MEDIA, '{"items":[{"id":7,"title":"Pets"}],"keys":[{}],"total":1}'),
  'an object of something else': answering(200, JSON_MEDIA, '{"id":7,"name":{"first":"Ada"},"status":"ok"}'),
  'JSON null': answering(200, JSON_MEDIA, 'null'),
  'text that claims to be JSON': answering(200, JSON_MEDIA, PAGE),
  'HTML with 404': answering(404, 'text/html', PAGE),
  'JSON with 404': answering(404, JSON_MEDIA, '{"message":"Not Found"}'),
  'HTML with 501': answering(501, 'text/html', PAGE),
  'a redirect': answering(302, 'text/html', ''),
}

const RAW_SERVERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'garbage bytes': (socket) => socket.once('data', () => socket.end(Buffer.from([0, 255, 17, 3, 254, 10, 13, 1]))),
}

/** Servers of which nothing can be told. */
const MUTE_SERVERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'an immediate close': (socket) => socket.destroy(),
  silence: () => undefined,
}

export const FOREIGN_SERVERS = [...Object.keys(HTTP_SERVERS), ...Object.keys(RAW_SERVERS)]

/** Starts one of these on loopback. */
export async function startForeignServer(kind: string): Promise<ForeignServer> {
  const listener = HTTP_SERVERS[kind]
  const sockets = new Set<Socket>()
  const server: Server =
    listener === undefined ? createServer(RAW_SERVERS[kind] ?? MUTE_SERVERS[kind]) : createHttpServer(listener)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
