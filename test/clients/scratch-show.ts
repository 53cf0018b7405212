const short = (x: unknown, n = 500) => JSON.stringify(x).slice(0, n);
export async function show(lane: any, run: any, ms = 12000) {
  await Promise.race([run.exited, new Promise((r) => setTimeout(r, ms))]);
  console.log(lane.model.order.join(' '), 'LEFT', lane.model.left, lane.upstream.requests.map((r: any) => r.path).join(' '));
  for (const e of run.events.slice(1)) {
    if (e.subtype === 'init') { console.log('init'); continue; }
    const { session_id, uuid, timestamp, usage, modelUsage, model_usage_since_last_result, ...r } = e;
    console.log('  ' + short(r.message ? { type: r.type, ...r, message: r.message.content ?? r.message } : r, 600));
  }
  console.log('TROUBLES', await run.troubles(), run.stderr, run.words);
  for (const p of lane.model.played) {
    console.log('>>>', p.conversation, p.step, p.seen.tools.join(' '));
    const { messages, tools, input, instructions, system, ...rest } = p.seen.body;
    console.log('  ', JSON.stringify(rest).slice(0, 1000));
    console.log(p.seen.turns.map((t: any) => '   ' + (t.role === 'user' || t.role === 'system' ? t.role + ' ' + t.texts.map((x: string) => x.length + ':' + x.slice(-150).replaceAll('\n', '\\n')).join(' | ') + ' ' + t.images.map((i: string) => i.slice(0, 40)) : short(t, 900))).join('\n'));
  }
}
