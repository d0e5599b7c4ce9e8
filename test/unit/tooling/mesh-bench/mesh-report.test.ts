import { describe, expect, test } from 'vitest'
import { idleReport, startReport, throughputReport } from '../../../bench/support/mesh/mesh-report.mjs'

const sample = (megabits: number, nodeCpuPerGigabyte?: number) => ({
  bitsPerSecond: megabits * 1e6,
  retransmits: 10,
  cpuPerGigabyte: 1.23456,
  nodeCpuPerGigabyte,
})

describe('the report of first pings', () => {
  const report = startReport([
    {
      tunnel: 'ctl agent',
      from: 'enrolment',
      samples: [
        { pingMs: 900.4, startMs: 950.2 },
        { pingMs: 1500.6, startMs: 940 },
        { pingMs: 800, startMs: 960 },
      ],
    },
    { tunnel: 'nebula', from: 'enrolled', samples: [{ pingMs: 33.3, startMs: 7.1 }] },
  ])

  test('has the median and the longest time of the rounds', () => {
    expect(report.records[0]).toMatchObject({ rounds: 3, first_ping_ms: 900, first_ping_max_ms: 1501, started_ms: 950 })
  })

  test('has a goal for the agent alone', () => {
    expect(report.rows).toEqual([
      ['ctl agent', 'enrolment', 3, 900, 1501, 3000, 950],
      ['nebula', 'enrolled', 1, 33, 33, '-', 7],
    ])
    expect(report.records[1]).not.toHaveProperty('goal_ms')
  })
})

describe('the report of throughput', () => {
  const report = throughputReport(
    [
      {
        tunnel: 'bare wireguard-go',
        samples: [sample(100), sample(200), sample(400)],
        memory: { carrierMb: 13, nodeMb: undefined },
      },
      {
        tunnel: 'ctl agent',
        samples: [sample(90, 0.01), sample(196, 0.02), sample(400, 0.03)],
        memory: { carrierMb: 12, nodeMb: 77 },
      },
    ],
    { seconds: 10 },
  )

  test('compares each round with the baseline of the same round', () => {
    expect(report.records.map(({ ratio }: { readonly ratio: number }) => ratio)).toEqual([1, 0.98])
  })

  test('shows the process of Node apart, and nothing where there is none', () => {
    expect(report.rows).toEqual([
      ['bare wireguard-go', 3, 200, 1, '-', 10, 1.235, 13, '-', '-'],
      ['ctl agent', 3, 196, 0.98, '>= 0.95', 10, 1.235, 12, 0.02, 77],
    ])
  })
})

describe('the report of idle agents', () => {
  const report = idleReport([
    { peers: 100, seconds: 30, nodeMb: 82, nodePeakMb: 90, nodeCores: 0.0012, deviceMb: 7, deviceCores: 0.0003 },
  ])

  test('shows the process of Node beside its goals, and wireguard-go apart', () => {
    expect(report.rows).toEqual([[100, 30, 82, 90, '<= 120', 0.12, '<= 1', 7, 0.03]])
  })
})

test('each record has a name of its own, by which runs are compared, and each row a cell for each column', () => {
  const samples = [sample(1)]
  const memory = { carrierMb: 1, nodeMb: undefined }
  const times = [{ pingMs: 1, startMs: 1 }]
  const idle = { seconds: 1, nodeMb: 1, nodePeakMb: 1, nodeCores: 0, deviceMb: 1, deviceCores: 0 }
  const reports = [
    startReport([
      { tunnel: 'ctl agent', from: 'enrolment', samples: times },
      { tunnel: 'ctl agent', from: 'enrolled', samples: times },
    ]),
    throughputReport(
      [
        { tunnel: 'bare wireguard-go', samples, memory },
        { tunnel: 'ctl agent', samples, memory },
      ],
      { seconds: 1 },
    ),
    idleReport([
      { peers: 100, ...idle },
      { peers: 1000, ...idle },
    ]),
  ]
  const names = reports.flatMap(({ records }) => records.map((record: { readonly case: string }) => record.case))
  expect(new Set(names).size).toBe(names.length)
  for (const { header, rows } of reports) for (const row of rows) expect(row).toHaveLength(header.length)
})
