export { FetchProblem, type FetchProblemKind } from './fetch-problem.js';
export {
  FETCH_LIMITS,
  type FetchedPage,
  type FetchHead,
  type GuardedFetchOptions,
  guardedFetch,
} from './guarded-fetch.js';
export { type Resolver, systemResolver } from './resolve.js';
