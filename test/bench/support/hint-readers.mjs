// Holds event streams open, one for each node, and keeps when each has its first hint about policies after `expect`.
import { request } from 'node:http'

const OPENING = 50

let arrivals = new Map()
let wanted = 0
let hasAll = () => undefined

function take(nodeId, data) {
  const at = performance.timeOrigin + performance.now()
  const { type, payload } = JSON.parse(data)
  if (type !== 'node_state_updated' || !payload.blocks.includes('policy') || arrivals.has(nodeId)) return
  arrivals.set(nodeId, at)
  if (arrivals.size === wanted) hasAll()
}

function openOne(url, { node_id: nodeId, nsk }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${nsk}` }
    const asked = request(`${url}/v1/nodes/${nodeId}/events`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream was answered with ${response.statusCode}`))
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop()
        for (const line of lines) if (line.startsWith('data:')) take(nodeId, line.slice('data:'.length))
      })
      resolve()
    })
    asked.on('error', reject)
    asked.end()
  })
}

const answer = {
  async open({ url, nodes }) {
    const waiting = nodes.values()
    const openSome = async () => {
      for (const node of waiting) await openOne(url, node)
    }
    await Promise.all(Array.from({ length: OPENING }, openSome))
    wanted = nodes.length
  },
  async expect() {
    arrivals = new Map()
  },
  /** When each stream had its hint, in ms since the epoch, once all have it or the time is over. */
  async arrivals({ withinMs }) {
    if (arrivals.size < wanted)
      await new Promise((resolve) => {
        hasAll = resolve
        setTimeout(resolve, withinMs)
      })
    return [...arrivals.values()]
  },
}

const reply = async ({ command, parameters }) => process.send({ result: await answer[command](parameters) })
process.on('message', (message) => void reply(message))
process.send({ ready: true })
