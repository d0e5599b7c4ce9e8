import { readFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createTls } from 'node:tls'

/** Serves on an address: TLS with a certificate of its own, which answers each line, and plain HTTP. */
const [host, tlsPort, httpPort, keyFile, certFile] = process.argv.slice(2)

const tls = createTls({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (socket) => {
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => socket.write(`node: ${chunk.toString().trim()}`))
})
const http = createHttp((request, response) => response.end(`node over HTTP: ${request.headers.host}`))
tls.listen(Number(tlsPort), host, () => http.listen(Number(httpPort), host, () => process.stdout.write('listening\n')))
