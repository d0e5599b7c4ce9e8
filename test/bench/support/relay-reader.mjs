// Holds event streams open, one per node, and keeps how long each execution took from the beginning of its transaction to
// this end of its socket.
import { get } from 'node:http'

const { url, nodes } = JSON.parse(process.argv[2])
const nowMs = () => performance.timeOrigin + performance.now()
const lastSeq = new Map()
let latencies = []
let broken = 0

function take(node, data) {
  const at = nowMs()
  const { type, node_seq: seq, payload } = JSON.parse(data)
  const last = lastSeq.get(node)
  if (last !== undefined && seq !== last + 1) broken += 1
  lastSeq.set(node, seq)
  if (type === 'action_request') latencies.push(at - payload.parameters.begun_ms)
}

function open({ node_id: node, nsk }) {
  return new Promise((resolve, reject) => {
    const request = get(
      `${url}/v1/nodes/${node}/events`,
      { headers: { authorization: `Bearer ${nsk}` } },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`a stream was answered with ${response.statusCode}`))
        let rest = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          const lines = (rest + chunk).split('\n')
          rest = lines.pop()
          for (const line of lines) if (line.startsWith('data:')) take(node, line.slice(5).trimStart())
        })
        resolve()
      },
    )
    request.on('error', reject)
  })
}

await Promise.all(nodes.map(open))
process.on('message', () => {
  process.send({ latencies, broken })
  latencies = []
})
process.send({ ready: true })
