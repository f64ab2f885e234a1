# shellcheck shell=bash
# The counters that the simulator counts too, by Nsight Compute's names. Sourced by the scripts that record them.
# shellcheck disable=SC2034  # used by those who source this
counter_metrics=smsp__inst_executed_op_global_ld.sum,smsp__inst_executed_op_global_st.sum
for op in ld st red atom; do
  counter_metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum
done
for op in ld st; do  # the two stages of L1
  counter_metrics+=,l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_$op.sum
done
counter_metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_read.sum
for op in ld st; do
  counter_metrics+=,smsp__inst_executed_op_shared_$op.sum,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_$op.sum
  counter_metrics+=,l1tex__t_requests_pipe_lsu_mem_local_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_$op.sum
done
for op in fadd fmul ffma dadd dmul dfma; do
  counter_metrics+=,smsp__sass_thread_inst_executed_op_${op}_pred_on.sum
done
