/**
 * The environment of a process whose clock is wrong by so many milliseconds, and after SIGUSR2 by so many others,
 * in turn.
 */
export function clockOff(ms: number, others = ms): Record<string, string> {
  const shifted = `const Own=Date;let [off,other]=[${ms},${others}];
    process.on('SIGUSR2',()=>{[off,other]=[other,off]});
    globalThis.Date=class extends Own{constructor(...at){super(...(at.length===0?[Own.now()+off]:at))}static now(){return Own.now()+off}}`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted)}` };
}
