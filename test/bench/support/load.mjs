import autocannon from 'autocannon'

/**
 * Posts over `connections` kept-alive connections for so many seconds; every answer but 200 is counted.
 * `requestOf(connection)` gives each connection its own headers and body; `onAnswer(connection, body)` sees each answer.
 */
export async function post(url, { connections, seconds, requestOf, onAnswer }) {
  let next = 0
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    setupClient(client) {
      const connection = next++
      const { path, headers, body } = requestOf(connection)
      client.setRequests([
        {
          method: 'POST',
          path,
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        },
      ])
      if (onAnswer) client.on('body', (buffer) => onAnswer(connection, buffer))
    },
  })
  return figuresOf(result)
}

/** Gets one path over `connections` kept-alive connections for so many seconds; every answer but 200 is counted. */
export async function get(url, { connections, seconds, path, headers }) {
  return figuresOf(await autocannon({ url: url + path, connections, duration: seconds, headers }))
}

function figuresOf(result) {
  return {
    requestsPerSecond: result.requests.total / result.duration,
    requests: result.requests.total,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  }
}
