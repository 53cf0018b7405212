/**
 * fast-check with a seed of its own: a run of the tests is the same everywhere, and a failure can be
 * had again. `TOOLGATE_SEED` begins elsewhere. Stands in for `fast-check` in every test.
 */
import fc from 'fast-check';

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed: Number(process.env['TOOLGATE_SEED'] ?? 20_260_101),
});

export * from 'fast-check';
export default fc;
