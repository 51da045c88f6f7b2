process INTERPLAY_RUN {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "localhost/interplay:latest"

    input:
    tuple val(meta), path(table)
    val target

    output:
    tuple val(meta), path("${prefix}.csv")      , emit: variables
    tuple val(meta), path("${prefix}.html")     , emit: report
    tuple val(meta), path("${prefix}.interplay"), emit: selection
    tuple val("${task.process}"), val('interplay'), eval("interplay --version | sed 's/interplay //'"), topic: versions, emit: versions_interplay

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    if ("${table}" == "${prefix}.csv") error("Input and output names are the same, set prefix in module configuration to disambiguate!")
    """
    interplay run \\
        ${args} \\
        --target ${target} \\
        --jobs ${task.cpus} \\
        --out ${prefix}.csv \\
        --report ${prefix}.html \\
        --save ${prefix}.interplay \\
        ${table}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.csv ${prefix}.html ${prefix}.interplay
    """
}
