export function help() {
  console.log('HELP me');
}
