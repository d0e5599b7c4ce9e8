// A TCP relay in a process of its own, so that it can be killed and suspended as the server behind it could. The parent
// steers it over IPC; the argument is JSON: `{ target, port, delayMs }`.
import { connect, createServer } from 'node:net'

const { target, port, delayMs: initialDelayMs } = JSON.parse(process.argv[2])
const [host, targetPort] = target.split(':')
let delayMs = initialDelayMs

/** Answers that wait, in the order of their arrival. */
const waiting = new Set()

function later(work) {
  const entry = { work, timer: setTimeout(() => run(entry), delayMs) }
  waiting.add(entry)
}

function run(entry) {
  waiting.delete(entry)
  entry.work()
}

/** What waits is passed on when the delay changes, so that nothing overtakes it. */
function flush() {
  for (const entry of waiting) {
    clearTimeout(entry.timer)
    run(entry)
  }
}

/** Passes answers on in order, each `delayMs` after it arrived. */
function delayed(from, to) {
  const pass = (work) => (delayMs === 0 ? work() : later(work))
  from.on('data', (chunk) => pass(() => to.writable && to.write(chunk)))
  from.on('end', () => pass(() => to.end()))
}

const server = createServer((near) => {
  near.setNoDelay(true)
  const far = connect(Number(targetPort), host).setNoDelay(true)
  near.on('error', () => far.destroy()).on('close', () => far.destroy())
  far.on('error', () => near.destroy()).on('close', () => near.destroySoon())
  near.pipe(far)
  delayed(far, near)
})

process.on('message', (message) => {
  flush()
  delayMs = message.delayMs
  process.send({ delayMs })
})
process.on('disconnect', () => process.exit(0))
server.listen(port, '127.0.0.1', () => process.send({ port: server.address().port }))
