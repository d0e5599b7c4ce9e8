import { connect } from 'node:tls'
import { createInterface } from 'node:readline'

/** Opens a TLS connection by a server name. Lines of stdin are sent; what happens is printed, a line of JSON each. */
const [host, port, servername] = process.argv.slice(2)
const print = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`)

const socket = connect(
  { host, port: Number(port), rejectUnauthorized: false, ...(servername && { servername }) },
  () => {
    const { subject, issuer } = socket.getPeerCertificate()
    print({ opened: { subject: subject?.CN ?? '', issuer: issuer?.CN ?? '' } })
  },
)
socket.on('data', (chunk) => print({ data: chunk.toString() }))
socket.on('error', (error) => print({ error: error.code ?? error.message }))
socket.on('close', () => {
  print({ closed: true })
  process.exit(0)
})
createInterface({ input: process.stdin }).on('line', (line) => socket.write(`${line}\r\n`))
