/** A metric as its text shows it. */
export interface ScrapedMetric {
  readonly name: string
  readonly type: string
  readonly help: string
  /** Names of labels, in their order; none where it has no samples yet. `le` is left out. */
  readonly labels: readonly string[]
}

/** Reads Prometheus' text format: one entry a metric, histograms by the name that they share. */
export function readMetrics(text: string): ReadonlyMap<string, ScrapedMetric> {
  const metrics = new Map<string, ScrapedMetric>()
  const helps = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') helps.set(name, rest)
    if (keyword === 'TYPE') metrics.set(name, { name, type: rest, help: helps.get(name) ?? '', labels: [] })
    const [, sample = '', labels = ''] = /^([a-z_]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    const metric = metrics.get(sample) ?? metrics.get(familyOf(sample))
    if (metric === undefined) continue
    const named = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = '']) => label)
    const all = new Set([...metric.labels, ...named.filter((label) => label !== 'le')])
    metrics.set(metric.name, { ...metric, labels: [...all].toSorted() })
  }
  return metrics
}

/** `x_bucket`, `x_sum` and `x_count` as `x`. */
export function familyOf(sample: string): string {
  return sample.replace(/_(?:bucket|sum|count)$/, '')
}

/** A selector in PromQL. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

const SELECTOR = /([a-z_]\w*)\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\}/g

/** Words of PromQL that stand outside of selectors and groupings in our expressions. */
const WORDS = new Set(
  'sum min max rate increase delta absent topk time histogram_quantile min_over_time by and or unless'.split(' '),
)

/** The selectors of an expression, all of them with braces. @throws Error for a name without braces. */
export function selectorsOf(expression: string): readonly Selector[] {
  const selectors = [...expression.matchAll(SELECTOR)].map(([, metric = '', labels = '']) => ({
    metric,
    labels: [...labels.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
  }))
  const rest = expression
    .replaceAll(SELECTOR, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|on) \([^)]*\)/g, ' ')
  const bare = [...rest.matchAll(/[a-z_]\w*/g)].map(([word]) => word).filter((word) => !WORDS.has(word))
  if (bare.length > 0) throw new Error(`${bare.join(', ')} in ${expression}: write selectors with braces`)
  return selectors
}

/** The labels that an expression groups by, or matches on. */
export function groupingsOf(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
}
