import { describe, expect, test } from 'vitest'
import { readScript } from './runs.ts'

/** Framework, device and steps of each run of a script. */
function runsIn(script: string) {
  return readScript(script).workloads.map(({ purpose, framework, device, steps }) => [
    purpose,
    framework?.value,
    device,
    steps?.value,
  ])
}

describe('scientific codes', () => {
  test.each([
    ['srun gmx_mpi mdrun -deffnm md -nb gpu -nsteps 500000', 'gromacs', 500_000],
    ['gmx mdrun -s md.tpr -nsteps -1', 'gromacs', undefined],
    ['gmx -quiet mdrun -v', 'gromacs', undefined],
    ['namd3 +p8 +devices 0 prod.namd', 'namd', undefined],
    ['mpirun -np 4 lmp -k on g 4 -sf kk -in in.melt', 'lammps', undefined],
    ['pmemd.cuda -O -i md.in -o md.out', 'amber', undefined],
    ['mpirun -np 4 vasp_std', 'vasp', undefined],
    ['mpirun -np 4 pw.x -npool 4 -in scf.in', 'quantum-espresso', undefined],
    ['srun cp2k.psmp -i h2o.inp', 'cp2k', undefined],
    ['mpirun -n 3 /opt/relion/bin/relion_refine_mpi --i p.star --gpu', 'relion', undefined],
    ['mpirun -np 4 pyfr run -b cuda mesh.pyfrm conf.ini', 'pyfr', undefined],
  ])('%s', (script, framework, steps) => {
    expect(runsIn(script)).toEqual([['other', framework, 'gpu', steps]])
  })

  test.each([
    ['python3 docker/run_alphafold.py --fasta_paths=a.fasta', 'alphafold'],
    ['colabfold_batch msas out --num-recycle 3', 'colabfold'],
    ['boltz predict in.yaml --use_msa_server', 'boltz'],
    ['singularity run --nv -B /db:/data /apps/alphafold_2.3.2.sif --fasta_paths=a.fasta --data_dir=/data', 'alphafold'],
    ['dorado basecaller hac pod5/ > calls.bam', 'dorado'],
    ['build/marian-decoder -c m.npz.decoder.yml -d 0 1', 'marian'],
    ['esm-extract esm2_t33_650M_UR50D in.fasta out --include mean', 'esm'],
    ['whisper talk.wav --model large-v3', 'whisper'],
  ])('%s asks a network', (script, framework) => {
    expect(runsIn(script)).toEqual([['infer', framework, 'gpu', undefined]])
  })

  test.each([
    'gmx grompp -f md.mdp -o md.tpr',
    'pyfr import mesh.msh mesh.pyfrm',
    'python run_alphafold.py --norun_inference --json_path=a.json',
  ])('%s leaves the GPUs idle', script => {
    expect(runsIn(script)).toMatchObject([['other', expect.any(String), 'cpu', undefined]])
  })

  test('what is made ready for a simulation is none of its runs', () => {
    expect(runsIn('python make_poscar.py 1.0\nmpirun -np 4 vasp_std')).toEqual([['other', 'vasp', 'gpu', undefined]])
  })

  test('what only begins like a code is none', () => {
    expect(runsIn('lmpirun in.melt')).toEqual([])
    expect(runsIn('vasp_setup.sh')).toEqual([])
  })
})
