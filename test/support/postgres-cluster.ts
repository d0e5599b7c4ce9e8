// Benchmarks are plain JavaScript and start the same cluster.
export { startPostgresCluster, type PostgresCluster } from './postgres-cluster.mjs'
