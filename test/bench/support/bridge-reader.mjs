// Holds the event streams of hosts open, and keeps when each received the configuration with a marker.
import { get } from 'node:http'

const { url, nodes } = JSON.parse(process.argv[2])
const nowMs = () => performance.timeOrigin + performance.now()
const TYPE = '"type":"bridge_config_updated"'
let marker
let arrivals = new Map()
let bytes = 0

function take(node, line) {
  if (marker === undefined || !line.includes(TYPE) || !line.includes(marker)) return
  bytes = line.length
  if (!arrivals.has(node)) arrivals.set(node, nowMs())
  if (arrivals.size < nodes.length) return
  marker = undefined
  process.send({ arrivals: [...arrivals.values()], bytes })
}

function open({ node_id: node, nsk }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${nsk}` }
    const request = get(`${url}/v1/nodes/${node}/events`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream was answered with ${response.statusCode}`))
      const rest = []
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        let from = 0
        for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', from)) {
          rest.push(chunk.slice(from, at))
          take(node, rest.splice(0).join(''))
          from = at + 1
        }
        rest.push(chunk.slice(from))
      })
      resolve()
    })
    request.on('error', reject)
  })
}

process.on('message', (next) => {
  arrivals = new Map()
  marker = next
})
await Promise.all(nodes.map(open))
process.send({ ready: true })
